#include <pagoda/base/error.h>
#include <pagoda/params/parameter_table.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include <torch/nn/module.h>

namespace pagoda {
namespace {

using SeenTensors = std::unordered_set<const c10::TensorImpl*>;

bool is_new(const at::Tensor& tensor, SeenTensors& seen) {
  return tensor.defined() && seen.insert(tensor.unsafeGetTensorImpl()).second;
}

void check_no_overlap(const std::vector<NamedTensor>& tensors) {
  struct Extent {
    const char* begin;
    const char* end;
    const std::string* name;
  };
  std::vector<Extent> extents;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.numel() == 0) continue;
    const char* begin = static_cast<const char*>(tensor.const_data_ptr());
    extents.push_back({begin, begin + tensor.numel() * tensor.element_size(), &name});
  }
  std::sort(extents.begin(), extents.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].begin < extents[i - 1].end) {
      throw UsageError("parameters '" + *extents[i - 1].name + "' and '" + *extents[i].name +
                       "' are different tensors over the same memory; to tie weights, register one "
                       "tensor under both names");
    }
  }
}

std::string describe(const NamedTensor& entry) {
  std::ostringstream text;
  text << "'" << entry.name << "' " << entry.tensor.scalar_type() << entry.tensor.sizes();
  return text.str();
}

void check_same(const std::vector<NamedTensor>& first, const std::vector<NamedTensor>& other,
                const char* what, const std::string& who) {
  for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    const std::string expected = i < first.size() ? describe(first[i]) : "nothing";
    const std::string found = i < other.size() ? describe(other[i]) : "nothing";
    if (expected != found) {
      throw UsageError("the model of " + who + " differs from the model of tower 0: " + what + " " +
                       std::to_string(i) + " is " + found + ", not " + expected +
                       "; the factory must build the same model every time");
    }
  }
}

}  // namespace

ParameterTable table_of(const torch::nn::Module& module) {
  ParameterTable table;
  SeenTensors seen;
  for (const auto& item : module.named_parameters()) {
    if (!is_new(item.value(), seen)) continue;
    auto& list = item.value().requires_grad() ? table.trainable : table.frozen;
    list.push_back({item.key(), item.value()});
  }
  for (const auto& item : module.named_buffers()) {
    if (is_new(item.value(), seen)) table.buffers.push_back({item.key(), item.value()});
  }
  check_no_overlap(table.trainable);
  return table;
}

void check_same_layout(const ParameterTable& first, const ParameterTable& other,
                       const std::string& who) {
  check_same(first.trainable, other.trainable, "trainable parameter", who);
  check_same(first.frozen, other.frozen, "frozen parameter", who);
  check_same(first.buffers, other.buffers, "buffer", who);
}

std::int64_t element_count(const std::vector<NamedTensor>& tensors) {
  std::int64_t count = 0;
  for (const auto& entry : tensors) count += entry.tensor.numel();
  return count;
}

}  // namespace pagoda
