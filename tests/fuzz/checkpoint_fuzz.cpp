#include "fuzz/fuzz_target.h"
#include "fuzz/read_weights.h"

namespace pagoda::fuzz {
namespace checkpoint_fuzz {

std::string read(std::string_view bytes) { return read_as_checkpoint(input_file(bytes)); }

const Registration registration{{"checkpoint", &read, true}};

}  // namespace checkpoint_fuzz
}  // namespace pagoda::fuzz
