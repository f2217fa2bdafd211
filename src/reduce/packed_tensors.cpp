#include "reduce/packed_tensors.h"

#include <map>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

namespace pagoda {
namespace {

/// The numbers of the tensors on each card, of each type; those in CPU memory travel nowhere.
std::map<std::pair<int, at::ScalarType>, std::vector<std::size_t>> groups_of(
    const std::vector<at::Tensor>& tensors) {
  std::map<std::pair<int, at::ScalarType>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].is_cpu()) continue;
    groups[{tensors[i].get_device(), tensors[i].scalar_type()}].push_back(i);
  }
  return groups;
}

at::Tensor joined(const std::vector<at::Tensor>& tensors, const std::vector<std::size_t>& numbers) {
  std::vector<at::Tensor> flat;
  for (const std::size_t i : numbers) flat.push_back(tensors[i].detach().reshape(-1));
  return at::cat(flat);
}

/// Calls `visit(number, its part of the joined ones, in its shape)`.
template <class Visit>
void each_part(const at::Tensor& joined, const std::vector<at::Tensor>& like,
               const std::vector<std::size_t>& numbers, Visit visit) {
  std::int64_t begin = 0;
  for (const std::size_t i : numbers) {
    visit(i, joined.narrow(0, begin, like[i].numel()).view(like[i].sizes()));
    begin += like[i].numel();
  }
}

}  // namespace

std::vector<at::Tensor> packed_to_host(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> values;
  for (const at::Tensor& tensor : tensors) values.push_back(tensor.detach());
  for (const auto& [place, numbers] : groups_of(tensors)) {
    each_part(joined(tensors, numbers).to(at::kCPU), tensors, numbers,
              [&](std::size_t i, const at::Tensor& part) { values[i] = part; });
  }
  return values;
}

void packed_from_host(const std::vector<at::Tensor>& values,
                      const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].is_cpu()) tensors[i].copy_(values[i]);
  }
  for (const auto& [place, numbers] : groups_of(tensors)) {
    each_part(joined(values, numbers).to(tensors[numbers.front()].device()), tensors, numbers,
              [&](std::size_t i, const at::Tensor& part) { tensors[i].copy_(part); });
  }
}

}  // namespace pagoda
