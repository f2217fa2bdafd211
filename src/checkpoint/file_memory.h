#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace pagoda {

/// A file's bytes in memory, read once, aligned so that tensors can lie in it where the file has
/// them. (Not mapped: a mapped file that somebody else cuts off ends the process.)
///
/// Threads: any. Owns: the memory, which lives as long as a copy of `owner`.
struct FileMemory {
  static constexpr std::size_t kAlignment = 64;

  std::shared_ptr<char> owner;
  std::size_t size = 0;

  std::string_view bytes() const { return {owner.get(), size}; }
};

/// Fails: IoError with the path and the reason when it cannot be read or is no regular file (a pipe
/// or a device may have no end); std::bad_alloc when there is no room for it.
FileMemory read_file_memory(const std::filesystem::path& path);

}  // namespace pagoda
