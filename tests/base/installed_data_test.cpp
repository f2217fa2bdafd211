#include <pagoda/base/installed_data.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace installed_data_test {

using testing::ScratchDirectory;
using testing::write_file;

TEST(InstalledDataTest, WhatLiesBesideTheProgramGoesFirst) {
  const ScratchDirectory scratch;
  std::filesystem::create_directories(scratch / "prefix/bin");
  std::filesystem::create_directories(scratch / "prefix/share/pagoda");
  write_file(scratch / "prefix/bin/program", "");
  std::filesystem::create_symlink(scratch / "prefix/bin/program", scratch / "link");
  write_file(scratch / "prefix/share/pagoda/there", "");

  const auto found = [&](const char* name, const char* program) {
    return installed_data(name, "in-build", scratch / program);
  };
  EXPECT_EQ(found("there", "prefix/bin/program"),
            std::filesystem::canonical(scratch / "prefix/share/pagoda/there"));
  EXPECT_EQ(found("there", "link"), found("there", "prefix/bin/program"));
  EXPECT_EQ(found("missing", "prefix/bin/program"), "in-build");
  EXPECT_EQ(found("there", "no-program"), "in-build");
}

TEST(InstalledDataTest, ThisProgramHasNone) {
  EXPECT_EQ(installed_data("no-such-file", "in-build"), "in-build");
}

}  // namespace installed_data_test
}  // namespace pagoda
