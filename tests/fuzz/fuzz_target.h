#pragma once

#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::fuzz {

/// A reader of input that somebody else wrote, as a function of bytes.
struct Target {
  const char* name;
  /// Reads the bytes and gives what was read, as a text that is another one for other values.
  /// A reader may refuse with a pagoda::Error; everything else that it throws is a defect.
  std::string (*read)(std::string_view bytes);
  /// Whether checksums cover the input: changed bytes are refused, or read as the same values.
  bool is_checksummed = false;
};

/// The readers that are linked into this program. An object `const Registration here{{…}};` at
/// namespace scope adds one.
const std::vector<Target>& targets();

struct Registration {
  explicit Registration(const Target& target);
};

/// A file with these bytes, in a directory of this process; a second one of the same name replaces
/// it.
std::filesystem::path input_file(std::string_view bytes, std::string_view name = "input");

/// Cuts an input that stands for several files or texts at lines "%%": always `count` parts, empty
/// where the input has fewer; the last one takes all that is left.
std::vector<std::string_view> parts_of(std::string_view bytes, std::size_t count);

/// Ends the process with this sentence where what must be true of every input is not.
void require(bool is_true, const char* sentence);

/// What `make` gives, which a reader needs for every input: if it fails, no input is to blame.
template <class Make>
auto prepared(Make make) {
  try {
    return make();
  } catch (const std::exception& error) {
    require(false, error.what());
    throw;
  }
}

}  // namespace pagoda::fuzz
