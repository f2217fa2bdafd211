// A CUDA driver with two cards, of which the second does not answer: the functions of the real
// one's C interface that Pagoda calls.
#include <cstddef>
#include <cstdio>

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
}
