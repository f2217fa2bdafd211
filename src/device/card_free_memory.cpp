#include "device/card_free_memory.h"

#include <dlfcn.h>

namespace pagoda {
namespace {

/// nvmlMemory_t of its documentation.
struct NvmlMemory {
  unsigned long long total, free, used;
};

/// The library while it is open. Functions return 0 for success.
class ManagementLibrary {
 public:
  explicit ManagementLibrary(const char* name)
      : library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)),
        init_(function<int()>("nvmlInit_v2")),
        shutdown_(function<int()>("nvmlShutdown")),
        device_(function<int(const char*, void**)>("nvmlDeviceGetHandleByUUID")),
        memory_(function<int(void*, NvmlMemory*)>("nvmlDeviceGetMemoryInfo")),
        works_(init_ && shutdown_ && device_ && memory_ && init_() == 0) {}
  ~ManagementLibrary() {
    if (works_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  ManagementLibrary(const ManagementLibrary&) = delete;
  ManagementLibrary& operator=(const ManagementLibrary&) = delete;

  std::optional<std::int64_t> free_bytes(const std::string& uuid) const {
    void* device = nullptr;
    NvmlMemory memory{};
    if (!works_ || device_(uuid.c_str(), &device) != 0 || memory_(device, &memory) != 0)
      return std::nullopt;
    return static_cast<std::int64_t>(memory.free);
  }

 private:
  template <class Function>
  Function* function(const char* symbol) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, symbol));
  }

  void* library_;
  int (*init_)();
  int (*shutdown_)();
  int (*device_)(const char* uuid, void** device);
  int (*memory_)(void* device, NvmlMemory* memory);
  bool works_;
};

}  // namespace

std::optional<std::int64_t> card_free_memory(const std::string& uuid, const char* library) {
  const ManagementLibrary open(library);
  // A part of a card (MIG) has a name of its own kind.
  const auto whole = open.free_bytes("GPU-" + uuid);
  return whole ? whole : open.free_bytes("MIG-" + uuid);
}

}  // namespace pagoda
