#include "program/operator_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "program/printable_text.h"

namespace pagoda {
namespace {

constexpr std::string_view kPrefix = "torch.ops.";

/// Operators that write to files or to the terminal.
constexpr std::string_view kRefused[] = {"aten::from_file", "aten::_print"};

/// "torch.ops.aten.add.Tensor" in its parts; nothing for what is no such name.
std::optional<c10::OperatorName> name_of(std::string_view target) {
  if (!target.starts_with(kPrefix)) return std::nullopt;
  target.remove_prefix(kPrefix.size());
  const std::size_t first = target.find('.');
  const std::size_t last = target.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  std::string name(target.substr(0, first));
  name += "::";
  name += target.substr(first + 1, last - first - 1);
  const std::string_view overload = target.substr(last + 1);
  return c10::OperatorName(name, overload == "default" ? "" : std::string(overload));
}

}  // namespace

OperatorTable::OperatorTable(std::vector<std::string> namespaces)
    : namespaces_(std::move(namespaces)) {
  namespaces_.emplace_back("aten");
}

OperatorTable::Found OperatorTable::find(const std::string& target) const {
  const auto name = name_of(target);
  if (!name) return {.refusal = "is no operator of LibTorch"};
  const std::string space(name->name.substr(0, name->name.find(':')));
  if (std::find(namespaces_.begin(), namespaces_.end(), space) == namespaces_.end())
    return {.refusal = "belongs to a library that was not loaded"};
  if (std::find(std::begin(kRefused), std::end(kRefused), name->name) != std::end(kRefused))
    return {.refusal = "reaches files or the terminal, and is never called"};
  auto handle = c10::Dispatcher::singleton().findSchema(*name);
  if (!handle) return {.refusal = "is not in this version of LibTorch"};
  return {.handle = handle};
}

std::string operator_text(const std::string& target) {
  const auto name = name_of(target);
  if (!name)
    return printable_text(target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target);
  return printable_text(name->overload_name.empty() ? name->name
                                                    : name->name + "." + name->overload_name);
}

}  // namespace pagoda
