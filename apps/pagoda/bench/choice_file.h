#pragma once

#include <filesystem>
#include <string>

namespace pagoda::app {

/// What `--devices` says for "what was chosen".
inline constexpr const char* kChosenDevices = "auto";

/// Whom a choice is for, besides this machine.
struct ChoiceFor {
  std::string model;
  int processes = 1;  ///< that train together
};

/// Keeps the options of `pagoda train` that were chosen, as TOML, in this file, or where
/// `stored_choice` finds them where it has no name; gives the file.
/// Fails: IoError.
std::filesystem::path keep_choice(const ChoiceFor& whom, const std::string& options,
                                  const std::string& file);

/// The options of `pagoda train` that were chosen on this machine.
struct StoredChoice {
  std::string file;     ///< where they are kept
  std::string options;  ///< as TOML
  std::string devices;  ///< of them
};
/// Fails: UsageError when there was no choice yet, when it was made on another machine, or when its
/// file is damaged.
StoredChoice stored_choice(const ChoiceFor& whom);

/// Writes a file whole or not at all, with its directory. Fails: IoError.
void write_whole(const std::filesystem::path& path, const std::string& bytes);

}  // namespace pagoda::app
