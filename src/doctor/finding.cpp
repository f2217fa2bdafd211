#include <pagoda/base/byte_size.h>
#include <pagoda/doctor/finding.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>

namespace pagoda {
namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
constexpr std::int64_t kLittleMemory = kGibibyte;
constexpr std::int64_t kLittleSpace = kGibibyte / 2;
constexpr std::int64_t kFewFiles = 256;

using Findings = std::vector<Finding>;

/// "2.13.0" of "2.13.0+cpu".
std::string plain_version(const std::string& version) {
  return version.substr(0, version.find('+'));
}

void examine_libtorch(const MachineFacts& facts, Findings& findings) {
  const std::string& loaded =
      facts.libtorch_loaded.empty() ? facts.libtorch_built : facts.libtorch_loaded;
  Finding found{.subject = "LibTorch",
                .text = loaded +
                        (facts.cuda.libtorch_has_cuda ? " with CUDA, " : " without CUDA, ") +
                        facts.libtorch_file};
  if (plain_version(loaded) != plain_version(facts.libtorch_built)) {
    found.health = Health::wrong;
    found.text += "; Pagoda was built with " + facts.libtorch_built;
    found.remedy =
        "pip install torch==" + plain_version(facts.libtorch_built) +
        ", or build Pagoda with this one: CMAKE_PREFIX_PATH=/path/to/libtorch make; check "
        "LD_LIBRARY_PATH";
  }
  findings.push_back(std::move(found));
}

std::string card_list(const CudaFacts& cuda) {
  std::string list;
  for (const std::string& card : cuda.driver_cards)
    list += (list.empty() ? "" : "; ") + (card.empty() ? "one that does not answer" : card);
  return list;
}

bool is_hidden(const CudaFacts& cuda) {
  return cuda.mask && (cuda.mask->empty() || cuda.mask->starts_with("-1"));
}

/// What keeps cards from being used before LibTorch comes into it; nothing if the driver sees some.
std::optional<Finding> examine_driver(const CudaFacts& cuda) {
  if (!cuda.driver_cards.empty()) return std::nullopt;
  Finding found{.subject = "CUDA", .text = "no card; training runs on the CPU"};
  if (is_hidden(cuda)) {
    found.health = Health::note;
    found.text = "CUDA_VISIBLE_DEVICES=" + *cuda.mask + " hides all cards";
    found.remedy = "unset CUDA_VISIBLE_DEVICES";
  } else if (cuda.cards_in_machine > 0 && !cuda.driver_found) {
    found.health = Health::wrong;
    found.text = counted(cuda.cards_in_machine, "NVIDIA card") +
                 " in the machine, but no driver (libcuda.so.1)";
    found.remedy =
        "install NVIDIA's driver (Debian: apt-get install nvidia-driver), then restart; in a "
        "container: start it with the cards (--gpus all)";
  } else if (cuda.driver_found && cuda.driver_error != 0) {
    found.health = cuda.cards_in_machine > 0 ? Health::wrong : Health::note;
    found.text = "the driver answers with error " + std::to_string(cuda.driver_error);
    found.remedy = "nvidia-smi says more; after an update of the driver: restart the machine";
  }
  return found;
}

void examine_cuda(const CudaFacts& cuda, Findings& findings) {
  if (auto found = examine_driver(cuda)) return findings.push_back(*std::move(found));
  Finding found{.subject = "CUDA",
                .text = counted(std::ssize(cuda.driver_cards), "card") + ", driver for CUDA " +
                        cuda.driver_cuda + ": " + card_list(cuda)};
  const bool all_answer = std::none_of(cuda.driver_cards.begin(), cuda.driver_cards.end(),
                                       [](const std::string& card) { return card.empty(); });
  if (!all_answer) {
    found.health = Health::wrong;
    found.remedy =
        "nvidia-smi; take the card out with CUDA_VISIBLE_DEVICES, or restart the machine";
  } else if (!cuda.libtorch_has_cuda) {
    found.health = Health::wrong;
    found.text += "; LibTorch was built without CUDA and cannot use them";
    found.remedy =
        "build Pagoda with a LibTorch that has CUDA (docs/cuda.md): "
        "CMAKE_PREFIX_PATH=/path/to/libtorch make";
  } else if (cuda.libtorch_cards < std::ssize(cuda.driver_cards)) {
    found.health = Health::wrong;
    found.text += "; LibTorch sees " + std::to_string(cuda.libtorch_cards) + " of them";
    found.remedy =
        "update NVIDIA's driver, or take a LibTorch for CUDA " + cuda.driver_cuda + " or older";
  }
  findings.push_back(std::move(found));
}

void examine_nccl(const CudaFacts& cuda, Findings& findings) {
  Finding found{.subject = "NCCL", .text = cuda.nccl ? "built in" : "not built in"};
  if (!cuda.nccl && cuda.libtorch_cards > 1) {
    found.health = Health::note;
    found.text +=
        ": gradients of " + counted(cuda.libtorch_cards, "card") + " go through the host's memory";
    found.remedy = "pip install nvidia-nccl-cu13 (or apt-get install libnccl-dev), then make";
  }
  findings.push_back(std::move(found));
}

void examine_cores(const MachineFacts& facts, Findings& findings) {
  Finding found{.subject = "cores",
                .text = counted(facts.usable_cores, "core") + " for towers, " +
                        std::to_string(facts.allowed_cpus) + " of " +
                        counted(facts.machine_cpus, "hardware thread") + " allowed, " +
                        facts.processor};
  if (facts.allowed_cpus < facts.machine_cpus) {
    found.health = Health::note;
    found.remedy =
        "taskset -p $$ shows the mask of the shell; Slurm, containers and taskset set it";
  }
  findings.push_back(std::move(found));
  Finding quota{.subject = "CPU quota", .text = "none"};
  if (facts.quota_cpus) {
    quota.text = "time of " + counted(*facts.quota_cpus, "CPU");
    if (*facts.quota_cpus < facts.allowed_cpus) {
      quota.health = Health::note;
      quota.text += ", less than the " + std::to_string(facts.allowed_cpus) +
                    " that are allowed; towers are not bound to cores";
      quota.remedy = "raise the container's limit (docker: --cpus, Kubernetes: limits.cpu)";
    }
  }
  findings.push_back(std::move(quota));
}

void examine_simd(const MachineFacts& facts, Findings& findings) {
  const std::string fast = facts.fast_bf16 && facts.fast_fp16 ? "fast in bf16 and fp16"
                           : facts.fast_bf16                  ? "fast in bf16, slow in fp16"
                           : facts.fast_fp16                  ? "fast in fp16, slow in bf16"
                                                              : "slow in bf16 and fp16";
  Finding found{.subject = "SIMD", .text = facts.simd + ", " + fast};
  if (facts.simd_forced) {
    found.health = Health::note;
    found.text += "; ATEN_CPU_CAPABILITY=" + *facts.simd_forced + " decides it";
    found.remedy = "unset ATEN_CPU_CAPABILITY";
  }
  findings.push_back(std::move(found));
}

void examine_memory(const MachineFacts& facts, Findings& findings) {
  Finding found{.subject = "memory",
                .text = bytes_text(facts.memory_available) + " available of " +
                        bytes_text(facts.memory_bytes)};
  if (facts.memory_limit) found.text += ", the cgroup allows " + bytes_text(*facts.memory_limit);
  if (facts.memory_available < kLittleMemory) {
    found.health = Health::wrong;
    found.remedy = facts.memory_limit
                       ? "raise the container's limit (docker: --memory), or end other programs"
                       : "end other programs (ps aux --sort=-rss | head), or add swap";
  }
  findings.push_back(std::move(found));
}

void examine_directory(const std::string& subject, const DirectoryFacts& directory,
                       const std::string& other, Findings& findings) {
  Finding found{.subject = subject,
                .text = directory.path + ", " + bytes_text(directory.free_bytes) + " free"};
  if (!directory.writable) {
    found.health = Health::wrong;
    found.text = directory.path + " cannot be written";
    found.remedy = other;
  } else if (directory.free_bytes < kLittleSpace) {
    found.health = Health::wrong;
    found.remedy = "df -h " + directory.path + "; remove files, or " + other;
  }
  findings.push_back(std::move(found));
}

void examine_files(const MachineFacts& facts, Findings& findings) {
  Finding found{.subject = "open files",
                .text = "at most " + grouped(static_cast<double>(facts.open_files))};
  if (facts.open_files < kFewFiles) {
    found.health = Health::wrong;
    found.remedy = "ulimit -n 4096";
  }
  findings.push_back(std::move(found));
}

void examine_screen(const MachineFacts& facts, Findings& findings) {
  findings.push_back({.subject = "terminal",
                      .text = !facts.is_terminal
                                  ? "none: a log without a progress bar"
                                  : counted(facts.columns, "column") +
                                        (facts.colours ? ", colours" : ", no colours")});
  Finding board{.subject = "TensorBoard", .text = facts.tensorboard};
  if (facts.tensorboard.empty()) {
    board.health = Health::note;
    board.text = "not on the PATH; pagoda plot draws curves without it";
    board.remedy = "pip install tensorboard";
  }
  findings.push_back(std::move(board));
}

}  // namespace

std::vector<Finding> examine(const MachineFacts& facts) {
  Findings findings;
  examine_libtorch(facts, findings);
  examine_cuda(facts.cuda, findings);
  examine_nccl(facts.cuda, findings);
  examine_cores(facts, findings);
  examine_simd(facts, findings);
  examine_memory(facts, findings);
  examine_directory("temporary files", facts.temporary, "export TMPDIR=/another/directory",
                    findings);
  examine_directory("this directory", facts.working, "cd to another directory", findings);
  examine_files(facts, findings);
  examine_screen(facts, findings);
  return findings;
}

const char* health_name(Health health) {
  return health == Health::fine ? "fine" : health == Health::note ? "note" : "wrong";
}

}  // namespace pagoda
