#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// What there is of CUDA.
struct CudaFacts {
  int cards_in_machine = 0;      ///< of NVIDIA, on the PCI bus, whether or not a driver runs them
  bool driver_found = false;     ///< its library can be loaded
  int driver_error = 0;          ///< what the driver answered to the first call; 0: it works
  std::string driver_cuda = {};  ///< newest CUDA that the driver runs, such as "12.4"
  /// What the driver says of each card it sees: "NVIDIA A10, capability 8.6, 22.5 GiB"; empty for
  /// one that does not answer.
  std::vector<std::string> driver_cards = {};
  bool libtorch_has_cuda = false;                  ///< it was built for CUDA
  int libtorch_cards = 0;                          ///< cards that LibTorch sees
  std::optional<std::string> mask = std::nullopt;  ///< CUDA_VISIBLE_DEVICES
  bool nccl = false;                               ///< built in
};

/// A directory that files are to be written to.
struct DirectoryFacts {
  std::string path = {};        ///< where it is
  bool writable = false;        ///< a file could be made in it
  std::int64_t free_bytes = 0;  ///< of its file system
};

/// What a machine, and this process's place in it, look like: what examine() judges.
struct MachineFacts {
  std::string libtorch_built = {};   ///< version that Pagoda was compiled with
  std::string libtorch_loaded = {};  ///< version that runs; empty where it cannot be told
  std::string libtorch_file = {};    ///< where it was loaded from
  CudaFacts cuda = {};               ///< driver and cards

  std::string processor = {};  ///< its name
  int machine_cpus = 0;        ///< hardware threads of the machine that are switched on
  int allowed_cpus = 0;        ///< of these, those in this process's affinity mask
  int usable_cores = 0;  ///< what Pagoda makes devices of: physical cores, within quota and mask
  std::optional<int> quota_cpus = std::nullopt;  ///< of the cgroup, rounded up
  std::string simd = {};                         ///< what LibTorch computes with, such as "AVX2"
  std::optional<std::string> simd_forced = std::nullopt;  ///< ATEN_CPU_CAPABILITY
  bool fast_bf16 = false;  ///< the processor has instructions for products of bf16
  bool fast_fp16 = false;  ///< and of fp16

  std::int64_t memory_bytes = 0;                            ///< of the machine
  std::int64_t memory_available = 0;                        ///< not in use now
  std::optional<std::int64_t> memory_limit = std::nullopt;  ///< of the cgroup

  bool is_terminal = false;       ///< stderr, where log and progress go
  int columns = 0;                ///< of that terminal
  bool colours = false;           ///< it has them, and NO_COLOR is not set
  std::string tensorboard = {};   ///< where the command is; empty: not found
  DirectoryFacts temporary = {};  ///< TMPDIR, or /tmp
  DirectoryFacts working = {};    ///< where the program was started
  std::int64_t open_files = 0;    ///< most that the process may have open
};

/// Looks at the machine. Opens no context on any CUDA card; what cannot be read stays as above.
MachineFacts machine_facts();

}  // namespace pagoda
