#pragma once
// Where a call's path or descriptor leads.

#include <string>

namespace chaos {

/// The absolute path, without resolving links in it; relative ones begin at the descriptor's directory.
std::string absolute_path(int directory, const char* path);

/// The path by which the descriptor's file is known now; empty when it has none.
std::string path_of(int descriptor);

struct FileFact {
  bool exists = false;
  bool is_directory = false;
  unsigned long inode = 0;
  long size = 0;
};

FileFact fact_of(const std::string& path);  ///< of the path itself where it is a link
FileFact fact_of(int descriptor);

/// Bytes of the descriptor's file, which may be open for writing only.
std::string bytes_of(int descriptor, long offset, std::size_t bytes);

}  // namespace chaos
