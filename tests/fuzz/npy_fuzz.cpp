#include <pagoda/data/tensor_table.h>

#include <numeric>

#include "fuzz/fuzz_target.h"
#include "fuzz/tensor_text.h"

namespace pagoda::fuzz {
namespace npy_fuzz {

/// The rows of an array, or of an archive of arrays.
std::string read(std::string_view bytes) {
  const bool is_archive = bytes.starts_with("PK");
  const TensorTable table({input_file(bytes, is_archive ? "input.npz" : "input.npy")});
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.size()));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : table.get(rows).tensors) tensors.push_back({name, tensor});
  return tensor_text(tensors);
}

const Registration registration{{"npy", &read}};

}  // namespace npy_fuzz
}  // namespace pagoda::fuzz
