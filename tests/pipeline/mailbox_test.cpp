#include "pipeline/mailbox.h"

#include <future>

#include <gtest/gtest.h>

namespace pagoda {
namespace mailbox_test {

TEST(MailboxTest, LettersComeInOrder) {
  Mailbox<int> box;
  auto taken = std::async(std::launch::async, [&] {
    std::vector<int> all;
    for (int i = 0; i < 100; ++i) all.push_back(box.take().value_or(-1));
    return all;
  });
  for (int i = 0; i < 100; ++i) box.put(i);
  const auto all = taken.get();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
}

TEST(MailboxTest, AWaitEndsWhenTheBoxIsClosed) {
  Mailbox<int> box;
  auto taken = std::async(std::launch::async, [&] { return box.take(); });
  box.close();
  EXPECT_FALSE(taken.get());
}

TEST(MailboxTest, AClosedBoxGivesNothingAnyMore) {
  Mailbox<int> box;
  box.put(1);
  box.close();
  EXPECT_FALSE(box.take());
}

}  // namespace mailbox_test
}  // namespace pagoda
