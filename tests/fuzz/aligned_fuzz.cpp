#include "fuzz/fuzz_target.h"
#include "fuzz/read_pairs.h"

namespace pagoda::fuzz {
namespace aligned_fuzz {

/// Source and target, a line "%%" between them.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 2);
  return read_pairs({.source = {input_file(parts[0], "source")},
                     .target = {input_file(parts[1], "target")}});
}

const Registration registration{{"aligned", &read}};

}  // namespace aligned_fuzz
}  // namespace pagoda::fuzz
