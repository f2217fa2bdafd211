// A CUDA driver with two cards, of which the second does not answer, and NVIDIA's management library
// beside it: the functions of the real ones' C interfaces that Pagoda calls.
#include <cstddef>
#include <cstdio>
#include <cstring>

extern "C" {

int cuInit(unsigned) { return 0; }

int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = 40 + ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<std::size_t>(size), "Card %d", device);
  return device == 41 ? 999 : 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 8 : attribute == 76 ? 6 : -1;
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = std::size_t{1000} * device;
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}

int cuDeviceGetUuid(unsigned char* bytes, int device) {
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(device + i);
  return 0;
}

int nvmlInit_v2() { return 0; }

int nvmlShutdown() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int card = 40;
  *device = &card;
  return std::strcmp(uuid, "GPU-28292a2b-2c2d-2e2f-3031-323334353637") == 0 ? 0 : 6;
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  const unsigned long long card = *static_cast<int*>(device);
  total_free_used[0] = 1000 * card;
  total_free_used[1] = 700 * card;
  total_free_used[2] = 300 * card;
  return 0;
}
}
