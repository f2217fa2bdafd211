#include "base/compute_threads.h"

#include <thread>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace compute_threads_test {

TEST(ComputeThreadsTest, AThreadKeepsItsNumberWhateverOthersChooseLater) {
  const int before = at::get_num_threads();
  int kept = 0;
  std::thread([&] {
    set_compute_threads(3);
    std::thread([] { set_compute_threads(5); }).join();
    kept = at::get_num_threads();
  }).join();
  EXPECT_EQ(kept, 3);
  set_compute_threads(before);  // new threads begin with the number that was set last
  EXPECT_EQ(at::get_num_threads(), before);
}

}  // namespace compute_threads_test
}  // namespace pagoda
