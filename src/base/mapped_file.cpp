#include "base/mapped_file.h"

#include <pagoda/base/error.h>

#include <string>
#include <sys/mman.h>
#include <utility>

#include "base/descriptor.h"

namespace pagoda {

MappedFile::MappedFile(std::filesystem::path path) : file_(std::move(path)), size_(file_.size()) {
  if (size_ == 0) return;  // nothing can be mapped
  void* start = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                     file_.descriptor(), 0);
  if (start == MAP_FAILED) throw_io_error("map", file_.path());
  start_ = static_cast<char*>(start);
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) munmap(start_, size_);
}

void MappedFile::check_whole() const {
  const std::size_t now = file_.size();
  if (now == size_) return;
  throw IoError(file_.path().string() + " had " + std::to_string(size_) +
                " bytes when it was opened and has " + std::to_string(now) +
                " now; a file that is in use must be replaced, not changed");
}

}  // namespace pagoda
