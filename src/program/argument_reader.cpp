#include "program/argument_reader.h"

#include <limits>
#include <string_view>
#include <utility>

#include <c10/util/complex.h>

#include "program/graph_reader.h"
#include "program/json_members.h"
#include "program/type_codes.h"

namespace pagoda {
namespace {

using Kind = GraphArgument::Kind;
using Reader = GraphArgument (*)(const JsonValue&);

GraphArgument literal(c10::IValue value) { return {.literal = std::move(value)}; }

GraphArgument value_of_name(const std::string& name, bool is_number) {
  return {.kind = Kind::value, .name = name, .is_number = is_number};
}

GraphArgument read_none(const JsonValue&) { return {}; }
GraphArgument read_int(const JsonValue& json) {
  return literal(value_as<std::int64_t>(json, "as_int"));
}
GraphArgument read_float(const JsonValue& json) { return literal(read_double(json)); }
GraphArgument read_bool(const JsonValue& json) { return literal(value_as<bool>(json, "as_bool")); }
GraphArgument read_text(const JsonValue& json) {
  return literal(value_as<std::string>(json, "as_string"));
}

GraphArgument read_tensor(const JsonValue& json) {
  return value_of_name(text_member(json, "name"), /*is_number=*/false);
}

/// A symbolic number: a name, or one that is known.
GraphArgument read_symbol(const JsonValue& json) {
  const auto& [kind, content] = only_member(json);
  if (kind == "as_name") return value_of_name(value_as<std::string>(content, kind), true);
  if (kind == "as_float") return literal(read_double(content));
  if (kind == "as_bool") return literal(value_as<bool>(content, kind));
  return literal(value_as<std::int64_t>(content, kind));
}

GraphArgument read_optional_tensor(const JsonValue& json) {
  const auto& [kind, content] = only_member(json);
  return kind == "as_none" ? GraphArgument{} : read_tensor(content);
}

GraphArgument read_scalar_type(const JsonValue& json) {
  return literal(
      static_cast<std::int64_t>(scalar_type_of(value_as<std::int64_t>(json, "as_scalar_type"))));
}

GraphArgument read_layout(const JsonValue& json) {
  return literal(static_cast<std::int64_t>(layout_of(value_as<std::int64_t>(json, "as_layout"))));
}

GraphArgument read_memory_format(const JsonValue& json) {
  return literal(static_cast<std::int64_t>(
      memory_format_of(value_as<std::int64_t>(json, "as_memory_format"))));
}

GraphArgument read_device(const JsonValue&) { return {.kind = Kind::device}; }

GraphArgument read_complex(const JsonValue& json) {
  return literal(
      c10::complex<double>(read_double(member(json, "real")), read_double(member(json, "imag"))));
}

GraphArgument read_subgraph(const JsonValue& json) {
  return {.kind = Kind::graph,
          .name = text_member(json, "name"),
          .graph = std::make_shared<const Graph>(read_graph(member(json, "graph")))};
}

template <Reader read_item>
GraphArgument read_list(const JsonValue& json) {
  GraphArgument list{.kind = Kind::list};
  for (const JsonValue& item : value_as<JsonValue::List>(json, "as_…s"))
    list.items.push_back(read_item(item));
  return list;
}

constexpr std::pair<std::string_view, Reader> kReaders[] = {
    {"as_none", read_none},
    {"as_tensor", read_tensor},
    {"as_tensors", read_list<read_tensor>},
    {"as_int", read_int},
    {"as_ints", read_list<read_int>},
    {"as_float", read_float},
    {"as_floats", read_list<read_float>},
    {"as_string", read_text},
    {"as_strings", read_list<read_text>},
    {"as_sym_int", read_symbol},
    {"as_sym_ints", read_list<read_symbol>},
    {"as_sym_bool", read_symbol},
    {"as_sym_bools", read_list<read_symbol>},
    {"as_sym_float", read_symbol},
    {"as_sym_floats", read_list<read_symbol>},
    {"as_scalar_type", read_scalar_type},
    {"as_memory_format", read_memory_format},
    {"as_layout", read_layout},
    {"as_device", read_device},
    {"as_bool", read_bool},
    {"as_bools", read_list<read_bool>},
    {"as_graph", read_subgraph},
    {"as_optional_tensor", read_optional_tensor},
    {"as_optional_tensors", read_list<read_optional_tensor>},
    {"as_complex", read_complex},
    {"as_nested_tensors", read_list<read_list<read_tensor>>},
    {"as_int_lists", read_list<read_list<read_int>>},
    {"as_float_lists", read_list<read_list<read_float>>},
};

}  // namespace

GraphArgument read_argument(const JsonValue& value) {
  const auto& [kind, content] = only_member(value);
  for (const auto& [name, read] : kReaders) {
    if (name == kind) return read(content);
  }
  return {.kind = Kind::unsupported, .name = kind};
}

GraphSize read_size(const JsonValue& value) {
  const auto& [kind, content] = only_member(value);
  if (kind == "as_int") return {.number = value_as<std::int64_t>(content, kind)};
  return {.expression = text_member(content, "expr_str")};
}

double read_double(const JsonValue& value) {
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* whole = value.as<std::int64_t>()) return static_cast<double>(*whole);
  const auto* text = value.as<std::string>();
  if (text != nullptr && *text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text != nullptr && *text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text != nullptr && *text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  throw DataError(std::string("a number is ") + value.kind());
}

}  // namespace pagoda
