#include "checkpoint/safetensors_file.h"

#include <pagoda/base/atomic_file.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/mapped_file.h"
#include "base/safetensors.h"

namespace pagoda {
namespace {

/// In the order in which Python writes them: large elements first, so that all are aligned.
std::vector<NamedTensor> aligned_order(std::vector<NamedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return std::pair(b.tensor.element_size(), a.name) < std::pair(a.tensor.element_size(), b.name);
  });
  return tensors;
}

}  // namespace

void write_safetensors(const std::vector<NamedTensor>& tensors, const std::filesystem::path& path) {
  const std::vector<NamedTensor> order = aligned_order(tensors);
  std::vector<FileTensor> described;
  for (const auto& [name, tensor] : order)
    described.push_back(
        {.name = name, .type = tensor.scalar_type(), .shape = tensor.sizes().vec()});
  // Other readers ask which library's tensors these are.
  const std::string header = safetensors_header(described, {{"format", "pt"}});
  AtomicFile file(path);
  file.write(header);
  for (const auto& [name, tensor] : order) {
    const at::Tensor plain = tensor.detach().to(at::kCPU).resolve_conj().resolve_neg().contiguous();
    if (plain.nbytes() > 0) file.write(plain.const_data_ptr(), plain.nbytes());
  }
  file.commit();
}

WeightsFile read_safetensors(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  Safetensors found = parse_safetensors(file->bytes(), path.string());
  WeightsFile weights{.tensors = {}, .metadata = std::move(found.metadata)};
  for (const FileTensor& tensor : found.tensors)
    weights.tensors.push_back({tensor.name, tensor_of(tensor, file)});
  return weights;
}

}  // namespace pagoda
