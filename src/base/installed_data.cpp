#include <pagoda/base/installed_data.h>

#include <system_error>

namespace pagoda {

std::filesystem::path installed_data(const std::string& name, const std::filesystem::path& in_build,
                                     const std::filesystem::path& program) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(program, ignored);
  const std::filesystem::path installed =
      real.parent_path().parent_path() / "share" / "pagoda" / name;
  return !real.empty() && std::filesystem::exists(installed, ignored) ? installed : in_build;
}

}  // namespace pagoda
