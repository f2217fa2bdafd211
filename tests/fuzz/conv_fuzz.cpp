#include "fuzz/fuzz_target.h"
#include "fuzz/read_pairs.h"

namespace pagoda::fuzz {
namespace conv_fuzz {

std::string read(std::string_view bytes) { return read_pairs({.conv = {input_file(bytes)}}); }

const Registration registration{{"conv", &read}};

}  // namespace conv_fuzz
}  // namespace pagoda::fuzz
