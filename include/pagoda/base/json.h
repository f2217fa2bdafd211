#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Writes one JSON value as text, for output that machines read.
///
/// Numbers that JSON cannot express (nan, infinity) become null. Text is expected to be UTF-8.
/// Threads: one at a time. Fails: never.
/// Example:
///     JsonWriter json;
///     json.begin_object().key("step").value(7).key("losses").values(losses).end_object();
///     std::puts(json.text().c_str());
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(bool truth);
  JsonWriter& null();

  /// An array of the values.
  template <class T>
  JsonWriter& values(const std::vector<T>& items) {
    begin_array();
    for (const auto& item : items) value(item);
    return end_array();
  }

  const std::string& text() const { return text_; }

 private:
  void separate();

  std::string text_;
};

}  // namespace pagoda
