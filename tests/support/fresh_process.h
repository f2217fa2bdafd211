#pragma once

// What holds only in a process in which no card was used yet.

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <gtest/gtest.h>

namespace pagoda::testing {

/// Runs `check` in a process of its own, whose simulated cards nobody has used; what it throws, or
/// false, fails the test.
template <class Check>
void expect_in_fresh_process(Check check) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts this program anew
  EXPECT_EXIT(
      {
        try {
          std::_Exit(check() ? 0 : 1);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
          std::_Exit(2);
        }
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace pagoda::testing
