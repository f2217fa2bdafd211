#include "cli/standard_descriptors.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace standard_descriptors_test {

/// 0 if what is opened after the three were closed keeps away from them, and only stderr takes text.
int result_with_all_closed() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) close(descriptor);
  occupy_standard_descriptors();
  char byte = 0;
  if (read(STDIN_FILENO, &byte, 1) >= 0 || errno != EBADF) return 1;
  if (write(STDOUT_FILENO, "x", 1) >= 0 || errno != EBADF) return 2;
  if (write(STDERR_FILENO, "x", 1) != 1) return 3;
  return open("/dev/zero", O_RDONLY) > 2 ? 0 : 4;
}

TEST(StandardDescriptorsDeathTest, ClosedOnesAreTakenBeforeFilesAreOpened) {
  EXPECT_EXIT(std::_Exit(result_with_all_closed()), ::testing::ExitedWithCode(0), "");
}

TEST(StandardDescriptorsDeathTest, OpenOnesStayAsTheyAre) {
  EXPECT_EXIT(
      {
        occupy_standard_descriptors();
        std::_Exit(write(STDERR_FILENO, "heard", 5) == 5 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "heard");
}

}  // namespace standard_descriptors_test
}  // namespace pagoda
