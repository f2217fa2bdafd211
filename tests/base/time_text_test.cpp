#include <pagoda/base/time_text.h>

#include <ctime>
#include <regex>

#include <gtest/gtest.h>

namespace pagoda {
namespace time_text_test {

TEST(TimeTextTest, LocalTimeIsForPeople) {
  EXPECT_TRUE(std::regex_match(local_time_text(), std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")));
}

TEST(TimeTextTest, UtcTimeIsNowWhateverTheZone) {
  const std::time_t before = std::time(nullptr);
  const std::string text = utc_time_text();
  const std::time_t after = std::time(nullptr);
  std::tm parts{};
  ASSERT_NE(strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts), nullptr) << text;
  const std::time_t found = timegm(&parts);
  EXPECT_GE(found, before);
  EXPECT_LE(found, after);
}

}  // namespace time_text_test
}  // namespace pagoda
