#include <pagoda/base/error.h>
#include <pagoda/base/json_value.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/quoted_text.h"

namespace pagoda {
namespace {

/// Takes what nlohmann's parser finds, one piece after the other, and puts the tree together.
class JsonTree {
 public:
  explicit JsonTree(const std::string& source) : source_(source) {}

  JsonValue take() && { return std::move(root_); }

  // What the parser calls; true lets it go on.
  bool null() { return put(JsonValue::Null{}); }
  bool boolean(bool truth) { return put(truth); }
  bool number_integer(std::int64_t number) { return put(number); }
  bool number_unsigned(std::uint64_t number) {
    if (number > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return put(static_cast<double>(number));
    return put(static_cast<std::int64_t>(number));
  }
  bool number_float(double number, const std::string&) { return put(number); }
  bool string(std::string& text) { return put(std::move(text)); }
  bool binary(std::vector<std::uint8_t>&) { return false; }  // not in a text

  bool start_object(std::size_t) { return open(JsonValue::Object{}); }
  bool key(std::string& name) {
    names_.push_back(std::move(name));
    return true;
  }
  bool end_object() {
    auto& members = std::get<JsonValue::Object>(open_.back().content);
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::sort(members.begin(), members.end(), by_name);
    const auto same = [](const auto& a, const auto& b) { return a.name == b.name; };
    const auto twice = std::adjacent_find(members.begin(), members.end(), same);
    if (twice != members.end())
      throw DataError(source_ + ": an object has the name " + quoted_text(twice->name) + " twice");
    return close();
  }

  bool start_array(std::size_t) { return open(JsonValue::List{}); }
  bool end_array() { return close(); }

  [[noreturn]] bool parse_error(std::size_t position, const std::string& last_token,
                                const nlohmann::detail::exception&) {
    throw DataError(source_ + ": not JSON at byte " + std::to_string(position) + ", near " +
                    quoted_text(last_token));
  }

 private:
  template <class Content>
  bool put(Content&& content) {
    JsonValue value;
    value.content = std::forward<Content>(content);
    return put_value(std::move(value));
  }

  bool put_value(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* list = std::get_if<JsonValue::List>(&open_.back().content)) {
      list->push_back(std::move(value));
    } else {
      std::get<JsonValue::Object>(open_.back().content)
          .push_back({std::move(names_.back()), std::move(value)});
      names_.pop_back();
    }
    return true;
  }

  template <class Content>
  bool open(Content content) {
    if (open_.size() == kMostJsonNesting) {
      throw DataError(source_ + ": lists and objects are nested deeper than " +
                      std::to_string(kMostJsonNesting) + " levels");
    }
    open_.emplace_back().content = std::move(content);
    return true;
  }

  bool close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    return put_value(std::move(value));
  }

  const std::string& source_;
  JsonValue root_;
  std::vector<JsonValue> open_;     // lists and objects that have not ended, the innermost last
  std::vector<std::string> names_;  // of members that wait for their values
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto* members = as<Object>();
  if (members == nullptr) return nullptr;
  const auto found = std::lower_bound(
      members->begin(), members->end(), name,
      [](const Member& member, std::string_view wanted) { return member.name < wanted; });
  return found != members->end() && found->name == name ? &found->value : nullptr;
}

const char* JsonValue::kind() const {
  constexpr const char* kKinds[] = {"null", "a truth value", "a whole number", "a number",
                                    "text", "a list",        "an object"};
  return kKinds[content.index()];
}

JsonValue parse_json(std::string_view text, const std::string& source) {
  JsonTree tree(source);
  nlohmann::json::sax_parse(text.begin(), text.end(), &tree);
  return std::move(tree).take();
}

}  // namespace pagoda
