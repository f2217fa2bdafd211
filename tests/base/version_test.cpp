#include <pagoda/base/version.h>

#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace version_test {

TEST(VersionTest, BothAreNumbersWithDots) {
  const std::regex numbers(R"(\d+\.\d+\.\d+.*)");
  EXPECT_TRUE(std::regex_match(version(), numbers)) << version();
  EXPECT_TRUE(std::regex_match(libtorch_version(), numbers)) << libtorch_version();
}

TEST(VersionTest, TheTextNamesBothAndHowLibTorchComputes) {
  const std::string text = version_text();
  EXPECT_TRUE(std::regex_match(
      text, std::regex(R"(Pagoda \d[^ ]*, LibTorch \d[^ ]*, (release|debug) build, [A-Z]\S*)")))
      << text;
}

}  // namespace version_test
}  // namespace pagoda
