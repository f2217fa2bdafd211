#include "fuzz/fuzz_target.h"
#include "fuzz/read_pairs.h"

namespace pagoda::fuzz {
namespace tsv_fuzz {

std::string read(std::string_view bytes) { return read_pairs({.pairs = {input_file(bytes)}}); }

const Registration registration{{"tsv", &read}};

}  // namespace tsv_fuzz
}  // namespace pagoda::fuzz
