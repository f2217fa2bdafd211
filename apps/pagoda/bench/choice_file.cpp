#include "bench/choice_file.h"

#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/toml.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/device/device_list.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>
#include <cstdlib>

namespace pagoda::app {
namespace {

/// What a choice is for: it is of no use on another machine.
std::string machine_text() {
  std::int64_t cores = 0;
  std::int64_t cards = 0;
  std::string name;
  for (const Device& device : list_devices()) {
    cores += static_cast<std::int64_t>(device.cores.size());
    cards += device.kind == DeviceKind::cuda ? 1 : 0;
    if (device.kind == DeviceKind::cpu) name = device.name;
  }
  return "# for " + counted(cores, "core") + " of " + name + ", " + counted(cards, "CUDA card");
}

std::filesystem::path choice_path(const ChoiceFor& whom) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache != nullptr && *cache != '\0'
          ? std::filesystem::path(cache)
          : std::filesystem::path(home == nullptr ? "." : home) / ".cache";
  const std::string processes =
      whom.processes > 1 ? "-" + std::to_string(whom.processes) + "-processes" : "";
  return base / "pagoda" / (whom.model + processes + ".toml");
}

}  // namespace

void write_whole(const std::filesystem::path& path, const std::string& bytes) {
  std::error_code ignored;  // writing says what is wrong
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::filesystem::path keep_choice(const ChoiceFor& whom, const std::string& options,
                                  const std::string& file) {
  const auto path = file.empty() ? choice_path(whom) : std::filesystem::path(file);
  write_whole(path, machine_text() + "\n" + options);
  return path;
}

StoredChoice stored_choice(const ChoiceFor& whom) {
  const auto path = choice_path(whom);
  const std::string again = "; run pagoda bench " + whom.model + " --choose" +
                            (whom.processes > 1 ? " with as many processes" : "");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw UsageError("nothing was chosen for " + whom.model + " yet (" + path.string() + ")" +
                     again);
  const std::string text = read_file_start(path, kMostTomlBytes + 1);
  const std::string machine = text.substr(0, text.find('\n'));
  if (machine != machine_text()) {
    throw UsageError("the choice in " + path.string() + " was made on another machine (" +
                     machine.substr(std::min<std::size_t>(2, machine.size())) + ")" + again);
  }
  try {
    for (const TomlEntry& entry : parse_toml(text, path.string()).entries) {
      const auto* devices = std::get_if<std::string>(&entry.value);
      if (entry.name == "devices" && devices != nullptr)
        return {.file = path.string(), .options = text, .devices = *devices};
    }
  } catch (const DataError& error) {
    throw UsageError(error.what() + again);
  }
  throw UsageError(path.string() + " names no devices" + again);
}

}  // namespace pagoda::app
