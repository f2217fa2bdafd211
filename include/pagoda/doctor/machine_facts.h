#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// The CUDA driver and cards of a machine, and what LibTorch sees of them.
struct CudaFacts {
  int cards_in_machine = 0;      ///< NVIDIA cards on the PCI bus, with or without a driver
  bool driver_found = false;     ///< the driver's library can be loaded
  int driver_error = 0;          ///< what the driver returned from the first call; 0: it works
  std::string driver_cuda = {};  ///< newest CUDA version that the driver supports, such as "12.4"
  /// What the driver says about each card it sees: "NVIDIA A10, capability 8.6, 22.5 GiB"; empty
  /// for a card that does not answer.
  std::vector<std::string> driver_cards = {};
  bool libtorch_has_cuda = false;                  ///< LibTorch was built for CUDA
  int libtorch_cards = 0;                          ///< cards that LibTorch sees
  std::optional<std::string> mask = std::nullopt;  ///< CUDA_VISIBLE_DEVICES
  bool nccl = false;                               ///< Pagoda was built with NCCL
};

/// A directory in which files are to be written.
struct DirectoryFacts {
  std::string path = {};        ///< where it is
  bool writable = false;        ///< a file could be written in it
  std::int64_t free_bytes = 0;  ///< available on its file system
};

/// What a machine, and this process's place in it, look like: the facts that examine() judges.
struct MachineFacts {
  std::string libtorch_built = {};   ///< version that Pagoda was compiled with
  std::string libtorch_loaded = {};  ///< version that runs; empty if unknown
  std::string libtorch_file = {};    ///< where it was loaded from
  CudaFacts cuda = {};               ///< driver and cards

  std::string processor = {};  ///< its name
  int machine_cpus = 0;        ///< hardware threads of the machine that are online
  int allowed_cpus = 0;        ///< of these, those in this process's affinity mask
  int usable_cores = 0;        ///< physical cores that devices are made of, within quota and mask
  std::optional<int> quota_cpus = std::nullopt;  ///< CPUs that the cgroup allows, rounded up
  std::string simd = {};  ///< instruction set that LibTorch uses, such as "AVX2"
  std::optional<std::string> simd_forced = std::nullopt;  ///< ATEN_CPU_CAPABILITY
  bool fast_bf16 = false;  ///< the processor has instructions for bf16 products
  bool fast_fp16 = false;  ///< the same for fp16

  std::int64_t memory_bytes = 0;      ///< of the machine
  std::int64_t memory_available = 0;  ///< free for this process now, within the cgroup's limit
  std::optional<std::int64_t> memory_limit = std::nullopt;  ///< of the cgroup

  bool is_terminal = false;       ///< stderr, where log and progress go, is a terminal
  int columns = 0;                ///< width of that terminal
  bool colours = false;           ///< the terminal has them, and NO_COLOR is not set
  std::string tensorboard = {};   ///< path of the command; empty: not found
  DirectoryFacts temporary = {};  ///< TMPDIR, or /tmp
  DirectoryFacts working = {};    ///< the current directory
  std::int64_t open_files = 0;    ///< the most that the process may have open
};

/// Looks at the machine. Opens no context on any CUDA card; what cannot be read keeps its default.
MachineFacts machine_facts();

}  // namespace pagoda
