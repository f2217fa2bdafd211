#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <sys/types.h>

namespace pagoda {

/// open(2), again when a signal cuts it short; -1 and errno when it fails. The descriptor is not
/// passed on to other programs.
int open_descriptor(const std::filesystem::path& path, int flags);

/// read(2), again when a signal cuts it short.
ssize_t read_some(int descriptor, void* data, std::size_t bytes);

/// Writes all of it. Returns how much was written: less means that it failed, with errno.
std::size_t write_all(int descriptor, const void* data, std::size_t bytes);

/// fsync(2), again when a signal cuts it short; false and errno when it fails.
bool sync_descriptor(int descriptor);

/// flock(2), again when a signal cuts it short; false and errno when it fails: EWOULDBLOCK where
/// LOCK_NB is given and somebody else holds the lock, others where the file system has no locks.
bool lock_descriptor(int descriptor, int operation);

/// Whether the file or directory still has a name.
bool is_linked(int descriptor);

/// Makes the names in a directory durable: without it, a new or renamed file may be lost with the
/// directory's old content when the power goes out. File systems that cannot do that are let be, and so
/// are directories that this process may write but not read, which cannot be opened for it.
/// Fails: IoError with the directory and the system's reason.
void sync_directory(const std::filesystem::path& directory);

/// The directory that a path's last name is in.
std::filesystem::path directory_of(const std::filesystem::path& path);

/// Makes a directory and the missing ones above it, durably.
/// Fails: IoError with the directory and the system's reason.
void make_directories(const std::filesystem::path& directory);

/// Throws IoError "cannot <what> <path>: <reason of errno>".
[[noreturn]] void throw_io_error(const char* what, const std::filesystem::path& path);

}  // namespace pagoda
