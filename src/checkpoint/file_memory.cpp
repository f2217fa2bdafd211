#include "checkpoint/file_memory.h"

#include <new>

#include "base/regular_file.h"

namespace pagoda {
namespace {

constexpr auto kMemoryAlignment = std::align_val_t{FileMemory::kAlignment};

}  // namespace

FileMemory read_file_memory(const std::filesystem::path& path) {
  const RegularFile file(path);
  const std::size_t size = file.size();
  FileMemory memory;
  memory.owner.reset(static_cast<char*>(::operator new(size, kMemoryAlignment)),
                     [](char* start) { ::operator delete(start, kMemoryAlignment); });
  memory.size = file.read_into(memory.owner.get(), size);
  return memory;
}

}  // namespace pagoda
