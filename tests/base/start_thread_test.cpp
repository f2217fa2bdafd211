#include <pagoda/base/error.h>
#include <pagoda/base/start_thread.h>

#include <string>

#include <gtest/gtest.h>

#include "support/refused_threads.h"

namespace pagoda {
namespace start_thread_test {

TEST(StartThreadTest, RunsTheWork) {
  int result = 0;
  start_thread("sum", [&] { result = 42; }).join();
  EXPECT_EQ(result, 42);
}

TEST(StartThreadTest, SaysWhoseThreadIsRefusedAndWhatToDo) {
  const testing::RefusedThread refused(0);
  try {
    start_thread("tower 2", [] {}).join();
    FAIL() << "it was started";
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()),
              "tower 2: the system refuses to start another thread; raise the limit on processes "
              "(ulimit -u, or the container's), or use fewer devices and loader threads");
  }
}

}  // namespace start_thread_test
}  // namespace pagoda
