#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <memory>

namespace pagoda {
namespace {

// Of the CUDA driver's C interface (its documentation, "Device Management"): results are 0 for
// success, devices are numbers, and these are two of its enumerated attributes.
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

/// The driver's functions that are needed; `complete` says whether all were found.
struct Driver {
  explicit Driver(void* library) {
    find(library, "cuInit", init);
    find(library, "cuDeviceGetCount", count);
    find(library, "cuDeviceGet", device);
    find(library, "cuDeviceGetName", name);
    find(library, "cuDeviceGetAttribute", attribute);
    find(library, "cuDeviceTotalMem_v2", memory);
  }

  template <class Function>
  void find(void* library, const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
    complete = complete && function != nullptr;
  }

  int (*init)(unsigned flags) = nullptr;
  int (*count)(int* count) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*name)(char* name, int size, int device) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
  int (*memory)(std::size_t* bytes, int device) = nullptr;
  bool complete = true;
};

CudaDriverCard read_card(const Driver& driver, int ordinal) {
  int device = 0;
  char name[256] = "";
  int major = 0;
  int minor = 0;
  std::size_t memory = 0;
  const bool is_read = driver.device(&device, ordinal) == 0 &&
                       driver.name(name, sizeof name, device) == 0 &&
                       driver.attribute(&major, kCapabilityMajor, device) == 0 &&
                       driver.attribute(&minor, kCapabilityMinor, device) == 0 &&
                       driver.memory(&memory, device) == 0;
  if (!is_read) return {};
  return {name, std::to_string(major) + "." + std::to_string(minor),
          static_cast<std::int64_t>(memory)};
}

}  // namespace

std::vector<CudaDriverCard> cuda_driver_cards(const char* library) {
  const std::unique_ptr<void, CloseLibrary> opened(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  if (!opened) return {};
  const Driver driver(opened.get());
  int count = 0;
  if (!driver.complete || driver.init(0) != 0 || driver.count(&count) != 0) return {};
  std::vector<CudaDriverCard> cards;
  for (int ordinal = 0; ordinal < count; ++ordinal) cards.push_back(read_card(driver, ordinal));
  return cards;
}

}  // namespace pagoda
