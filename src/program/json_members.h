#pragma once

#include <pagoda/base/error.h>
#include <pagoda/base/json_value.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quoted_text.h"

namespace pagoda {

// Members of JSON objects that must be there and of the right kind.
// Fails: DataError that names the member; the caller says which file.

inline const JsonValue& member(const JsonValue& object, std::string_view name) {
  if (const JsonValue* found = object.find(name)) return *found;
  throw DataError("the member " + quoted_text(name) + " is missing");
}

template <class Kind>
const Kind& value_as(const JsonValue& value, std::string_view name) {
  if (const Kind* found = value.as<Kind>()) return *found;
  throw DataError("the member " + quoted_text(name) + " is " + value.kind() +
                  ", which it must not be");
}

template <class Kind>
const Kind& member_as(const JsonValue& object, std::string_view name) {
  return value_as<Kind>(member(object, name), name);
}

inline const JsonValue::List& list_member(const JsonValue& object, std::string_view name) {
  return member_as<JsonValue::List>(object, name);
}

inline const JsonValue::Object& object_member(const JsonValue& object, std::string_view name) {
  return member_as<JsonValue::Object>(object, name);
}

inline const std::string& text_member(const JsonValue& object, std::string_view name) {
  return member_as<std::string>(object, name);
}

/// The only member of an object that stands for one of several kinds: {"as_int": 3}.
inline const JsonValue::Member& only_member(const JsonValue& value) {
  const auto* members = value.as<JsonValue::Object>();
  if (members == nullptr || members->size() != 1)
    throw DataError("a value of several possible kinds has no kind");
  return members->front();
}

}  // namespace pagoda
