#include <pagoda/base/error.h>

#include "checkpoint/pickle_file.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/read_weights.h"
#include "fuzz/stored_zip.h"

namespace pagoda::fuzz {
namespace pickle_fuzz {

/// Three records of tensors and the pickle that refers to them, lines "%%" between them, in an
/// archive with right checksums.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 4);
  const std::string archive = stored_zip({{"archive/data.pkl", parts[3]},
                                          {"archive/byteorder", "little"},
                                          {"archive/data/0", parts[0]},
                                          {"archive/data/1", parts[1]},
                                          {"archive/data/2", parts[2]},
                                          {"archive/version", "3\n"}});
  read_pickle(archive, "the input");  // most inputs end here, and need no file
  const auto file = input_file(archive);
  try {
    return read_as_state_dict(file);
  } catch (const Error&) {
    return read_as_checkpoint(file);
  }
}

const Registration registration{{"pickle", &read}};

}  // namespace pickle_fuzz
}  // namespace pagoda::fuzz
