#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Writes one JSON value as text, for output that machines read.
///
/// Numbers that JSON cannot express (nan, infinity) become null. Text must be UTF-8.
/// Threads: one at a time. Fails: never.
/// Example:
///     JsonWriter json;
///     json.begin_object().key("step").value(7).key("losses").values(losses).end_object();
///     std::puts(json.text().c_str());
class JsonWriter {
 public:
  /// Begins an object; keys and values follow in turn.
  JsonWriter& begin_object();
  /// Ends the innermost object.
  JsonWriter& end_object();
  /// Begins an array; values follow.
  JsonWriter& begin_array();
  /// Ends the innermost array.
  JsonWriter& end_array();
  /// Names the next value of an object.
  JsonWriter& key(std::string_view name);

  /// A string, escaped.
  JsonWriter& value(std::string_view text);
  /// The same for a literal.
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  /// A number; null if it is not finite.
  JsonWriter& value(double number);
  /// A whole number.
  JsonWriter& value(std::int64_t number);
  /// The same for an int.
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  /// true or false.
  JsonWriter& value(bool truth);
  /// null.
  JsonWriter& null();

  /// An array of these values.
  template <class T>
  JsonWriter& values(const std::vector<T>& items) {
    begin_array();
    for (const auto& item : items) value(item);
    return end_array();
  }

  /// What has been written so far.
  const std::string& text() const { return text_; }

 private:
  void separate();

  std::string text_;
};

}  // namespace pagoda
