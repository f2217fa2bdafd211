#include "device/cuda_driver.h"

#include <cstdio>
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
    find(library, "cuDriverGetVersion", version);
    find(library, "cuDeviceGetUuid", uuid);
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
  int (*version)(int* version) = nullptr;
  int (*uuid)(unsigned char* bytes, int device) = nullptr;
  bool complete = true;
};

/// In the groups of digits that nvidia-smi shows.
std::string uuid_text(const Driver& driver, int device) {
  unsigned char bytes[16] = {};
  if (driver.uuid(bytes, device) != 0) return {};
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

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
          static_cast<std::int64_t>(memory), uuid_text(driver, device)};
}

}  // namespace

CudaDriver read_cuda_driver(const char* library) {
  const std::unique_ptr<void, CloseLibrary> opened(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  if (!opened) return {};
  const Driver driver(opened.get());
  if (!driver.complete) return {};
  CudaDriver found{.is_installed = true, .error = driver.init(0)};
  driver.version(&found.version);
  int count = 0;
  if (found.error != 0 || driver.count(&count) != 0) return found;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    found.cards.push_back(read_card(driver, ordinal));
  return found;
}

std::vector<CudaDriverCard> cuda_driver_cards(const char* library) {
  return read_cuda_driver(library).cards;
}

}  // namespace pagoda
