#include "fuzz/fuzz_target.h"
#include "fuzz/read_weights.h"

namespace pagoda::fuzz {
namespace state_dict_fuzz {

std::string read(std::string_view bytes) { return read_as_state_dict(input_file(bytes)); }

const Registration registration{{"state_dict", &read, true}};

}  // namespace state_dict_fuzz
}  // namespace pagoda::fuzz
