#include "tower/replica_use.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace replica_use_test {

TEST(ReplicaUseTest, TheParametersAndTheTowersAreFreeForWhomeverHasThem) {
  const int one = 0;
  const int other = 0;
  ReplicaUse use;
  EXPECT_NO_THROW(check_free(use, &one, "a step"));
  use.at_work = &one;
  EXPECT_NO_THROW(check_free(use, &one, "a step"));
  EXPECT_THROW(check_free(use, &other, "a step"), UsageError);
  EXPECT_THROW(check_free(use, nullptr, "a snapshot"), UsageError);
  use.at_work = nullptr;
  use.stand_ins = 2;
  EXPECT_THROW(check_free(use, &one, "a step"), UsageError);
}

}  // namespace replica_use_test
}  // namespace pagoda
