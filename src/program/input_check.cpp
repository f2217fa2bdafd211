#include "program/input_check.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "program/size_expression.h"

namespace pagoda {
namespace {

std::string type_text(at::ScalarType type) { return std::string(c10::getDtypeNames(type).first); }

/// "28 columns", "1 row", "size 28 in dimension 2".
std::string size_text(std::int64_t size, std::size_t dimension, std::size_t dimensions) {
  const std::string number = std::to_string(size);
  const std::string plural = size == 1 ? "" : "s";
  if (dimension == 0) return number + " row" + plural;
  if (dimension == 1 && dimensions == 2) return number + " column" + plural;
  return "size " + number + " in dimension " + std::to_string(dimension);
}

std::string range_text(const SymbolRange& range) {
  if (!range.most) return std::to_string(range.least.value_or(0)) + " or more";
  return std::to_string(range.least.value_or(0)) + " to " + std::to_string(*range.most);
}

bool is_within(std::int64_t size, const SymbolRange& range) {
  return size >= range.least.value_or(0) && (!range.most || size <= *range.most);
}

/// Compares one call's inputs with what is expected, one after the other.
class SizeCheck {
 public:
  explicit SizeCheck(const std::map<std::string, SymbolRange>& ranges) : ranges_(ranges) {}

  void add(const std::string& name, const at::Tensor& input, const TensorMeta& expected) {
    for (std::size_t i = 0; i < expected.sizes.size(); ++i)
      check(name, input.size(static_cast<std::int64_t>(i)), expected.sizes[i], i,
            expected.sizes.size());
  }

 private:
  void check(const std::string& name, std::int64_t size, const GraphSize& expected,
             std::size_t dimension, std::size_t dimensions) {
    const auto given = [&] {
      return "input " + name + ": " + size_text(size, dimension, dimensions) +
             ", the program was exported for ";
    };
    if (expected.number) {
      if (size != *expected.number) throw UsageError(given() + std::to_string(*expected.number));
      return;
    }
    if (const auto symbol = lone_symbol(expected.expression)) {
      bind(given, size, *symbol, name);
    } else if (const auto value = value_of(expected.expression, sizes_); value && size != *value) {
      throw UsageError(given() + readable(expected.expression) + ", which is " +
                       std::to_string(*value) + " here");
    }
  }

  template <class Given>
  void bind(Given given, std::int64_t size, const std::string& symbol, const std::string& name) {
    const auto range = ranges_.find(symbol);
    if (range != ranges_.end() && !is_within(size, range->second))
      throw UsageError(given() + range_text(range->second));
    const auto [known, is_new] = sizes_.emplace(symbol, size);
    if (is_new) {
      owners_[symbol] = name;
    } else if (known->second != size) {
      throw UsageError(given() + "as many as input " + owners_[symbol] + " has, which is " +
                       std::to_string(known->second));
    }
  }

  const std::map<std::string, SymbolRange>& ranges_;
  SymbolValues sizes_;
  std::map<std::string, std::string> owners_;
};

void check_kind(const std::string& name, const at::Tensor& input, const TensorMeta& expected) {
  if (!input.defined()) throw UsageError("input " + name + ": there is no tensor");
  if (input.scalar_type() != expected.type) {
    throw UsageError("input " + name + ": " + type_text(input.scalar_type()) +
                     ", the program was exported for " + type_text(expected.type));
  }
  if (input.dim() != static_cast<std::int64_t>(expected.sizes.size())) {
    throw UsageError("input " + name + ": " + std::to_string(input.dim()) +
                     " dimensions, the program was exported for " +
                     std::to_string(expected.sizes.size()));
  }
}

void check_number(const std::string& name, const at::Tensor& input) {
  if (input.defined() && input.numel() == 1 && c10::isIntegralType(input.scalar_type(), false))
    return;
  throw UsageError("input " + name + ": the program was exported for a whole number");
}

}  // namespace

InputCheck::InputCheck(const GraphProgram& program) : symbols_(program.symbols) {
  for (const InputSpec& input : program.inputs) {
    if (input.kind != InputSpec::Kind::user) continue;
    names_.push_back(input.name);
    const auto meta = program.graph.tensors.find(input.name);
    if (!input.is_number && meta == program.graph.tensors.end())
      throw DataError("nothing says what its input " + input.name + " is like");
    expected_.push_back(input.is_number ? std::nullopt : std::optional(meta->second));
  }
}

std::vector<std::vector<std::int64_t>> InputCheck::sizes() const {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& meta : expected_) {
    std::vector<std::int64_t>& sizes = all.emplace_back();
    if (!meta) continue;
    for (const GraphSize& size : meta->sizes) sizes.push_back(size.number.value_or(-1));
  }
  return all;
}

std::vector<at::Tensor> InputCheck::in_order(
    const std::map<std::string, at::Tensor>& inputs) const {
  std::vector<at::Tensor> ordered;
  for (const std::string& name : names_) {
    const auto found = inputs.find(name);
    if (found == inputs.end()) throw UsageError("input " + name + ": there is no tensor");
    ordered.push_back(found->second);
  }
  for (const auto& [name, tensor] : inputs) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end())
      throw UsageError("the program has no input " + quoted_text(name));
  }
  return ordered;
}

void InputCheck::check(const std::vector<at::Tensor>& inputs) const {
  if (inputs.size() != names_.size()) {
    std::string list;
    for (const std::string& name : names_) list += (list.empty() ? "" : ", ") + name;
    throw UsageError("the program takes " + std::to_string(names_.size()) + " inputs (" + list +
                     "), not " + std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (expected_[i])
      check_kind(names_[i], inputs[i], *expected_[i]);
    else
      check_number(names_[i], inputs[i]);
  }
  SizeCheck sizes(symbols_);
  for (int round = 0; round < 2; ++round) {  // in the second, all symbols are known
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (expected_[i]) sizes.add(names_[i], inputs[i], *expected_[i]);
    }
  }
}

std::string meta_text(const TensorMeta& meta) {
  std::string sizes;
  for (const GraphSize& size : meta.sizes) {
    sizes += (sizes.empty() ? "" : ", ") +
             (size.number ? std::to_string(*size.number) : readable(size.expression));
  }
  return type_text(meta.type) + " [" + sizes + "]";
}

}  // namespace pagoda
