#include <pagoda/base/byte_size.h>
#include <pagoda/base/version.h>
#include <pagoda/device/cpu_cores.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/doctor/machine_facts.h>
#include <pagoda/terminal/screen.h>
#include <pagoda/tower/precision.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

#include <ATen/Version.h>
#include <torch/cuda.h>

#include "device/cgroup.h"
#include "device/cpu_set.h"
#include "device/cuda_driver.h"
#include "doctor/libtorch_settings.h"
#include "reduce/card_link.h"

namespace pagoda {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Where the library lies that has LibTorch's operators.
std::string libtorch_file() {
  Dl_info found{};
  const auto address = reinterpret_cast<const void*>(&at::show_config);
  return dladdr(address, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "unknown";
}

std::string first_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// Cards of NVIDIA that show or compute, by the PCI bus's numbers for maker and class.
int cards_on_bus() {
  int cards = 0;
  std::error_code none;
  for (const auto& device : fs::directory_iterator("/sys/bus/pci/devices", none)) {
    if (first_word(device.path() / "vendor") == "0x10de" &&
        first_word(device.path() / "class").starts_with("0x03"))
      ++cards;
  }
  return cards;
}

std::string card_text(const CudaDriverCard& card) {
  if (card.memory_bytes == 0) return {};
  return card.name + ", capability " + card.capability + ", " + bytes_text(card.memory_bytes);
}

CudaFacts cuda_facts(bool libtorch_has_cuda) {
  const CudaDriver driver = read_cuda_driver();
  CudaFacts facts{.cards_in_machine = cards_on_bus(),
                  .driver_found = driver.is_installed,
                  .driver_error = driver.error,
                  .libtorch_has_cuda = libtorch_has_cuda,
                  .libtorch_cards = static_cast<int>(torch::cuda::device_count()),
                  .mask = environment("CUDA_VISIBLE_DEVICES"),
                  .nccl = has_nccl()};
  facts.driver_cuda =
      std::to_string(driver.version / 1000) + "." + std::to_string(driver.version % 1000 / 10);
  for (const CudaDriverCard& card : driver.cards) facts.driver_cards.push_back(card_text(card));
  return facts;
}

/// Tries it, because permissions alone do not tell: a file system may be mounted read-only.
bool can_write(const fs::path& directory) {
  std::string name = (directory / ".pagoda-doctor-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) return false;
  const bool is_written = write(file, "x", 1) == 1;
  close(file);
  unlink(name.c_str());
  return is_written;
}

DirectoryFacts directory_facts(const fs::path& path) {
  std::error_code none;
  const fs::space_info space = fs::space(path, none);
  return {.path = path.string(),
          .writable = can_write(path),
          .free_bytes = none ? 0 : static_cast<std::int64_t>(space.available)};
}

/// TMPDIR is where the program puts temporary files, also when it does not exist.
fs::path temporary_path() { return environment("TMPDIR").value_or("/tmp"); }

/// A command on the PATH, or beside this program as in a virtual environment; empty: neither.
std::string find_command(const std::string& name) {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  std::istringstream path(environment("PATH").value_or("") + ":" + program.parent_path().string());
  for (std::string folder; std::getline(path, folder, ':');) {
    const fs::path file = fs::path(folder) / name;
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

void add_processor(MachineFacts& facts) {
  const CpuCores cores = usable_cores();
  facts.processor = cores.name;
  facts.usable_cores = static_cast<int>(cores.cores.size());
  facts.machine_cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  facts.allowed_cpus = static_cast<int>(cpus_of_process().size());
  facts.simd = at::get_cpu_capability();
  facts.simd_forced = environment("ATEN_CPU_CAPABILITY");
  facts.fast_bf16 = is_fast(Precision::bf16, Device{});
  facts.fast_fp16 = is_fast(Precision::fp16, Device{});
}

void add_limits(MachineFacts& facts) {
  const CgroupLimits limits = cgroup_limits();
  facts.quota_cpus = limits.cpus;
  facts.memory_limit = limits.memory_bytes;
  facts.memory_available = available_host_bytes();
  facts.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0)
    facts.open_files = static_cast<std::int64_t>(files.rlim_cur);
}

}  // namespace

MachineFacts machine_facts() {
  const LibtorchSettings libtorch = libtorch_settings(at::show_config());
  MachineFacts facts{.libtorch_built = libtorch_version(),
                     .libtorch_loaded = libtorch.version,
                     .libtorch_file = libtorch_file(),
                     .cuda = cuda_facts(libtorch.has_cuda)};
  add_processor(facts);
  add_limits(facts);
  facts.is_terminal = isatty(STDERR_FILENO) != 0;
  facts.columns = terminal_columns(STDERR_FILENO);
  facts.colours = has_colours(STDERR_FILENO);
  facts.tensorboard = find_command("tensorboard");
  facts.temporary = directory_facts(temporary_path());
  std::error_code none;
  facts.working = directory_facts(fs::current_path(none));
  return facts;
}

}  // namespace pagoda
