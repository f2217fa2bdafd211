#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <fstream>

namespace pagoda {

std::string read_whole_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  char part[64 * 1024];
  while (file.read(part, sizeof part).gcount() > 0)
    bytes.append(part, static_cast<std::size_t>(file.gcount()));
  if (!file.eof()) throw IoError("cannot read " + path.string());
  return bytes;
}

}  // namespace pagoda
