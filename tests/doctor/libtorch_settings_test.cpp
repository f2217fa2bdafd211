#include "doctor/libtorch_settings.h"

#include <pagoda/base/version.h>

#include <ATen/Version.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace libtorch_settings_test {

TEST(LibtorchSettingsTest, AreReadFromTheListOfBuildSettings) {
  const auto cpu = libtorch_settings(
      "PyTorch built with:\n  - GCC 13.3\n  - Build settings: CUDA_FLAGS= -DUSE_CUDA=x, "
      "TORCH_VERSION=2.13.0, USE_CUDA=0, USE_CUDNN=OFF, \n");
  EXPECT_EQ(cpu.version, "2.13.0");
  EXPECT_FALSE(cpu.has_cuda);
  EXPECT_TRUE(libtorch_settings("Build settings: TORCH_VERSION=2.9.1, USE_CUDA=ON, ").has_cuda);
  EXPECT_TRUE(libtorch_settings("Build settings: USE_CUDA=1,").has_cuda);
  EXPECT_EQ(libtorch_settings("something else").version, "");
}

TEST(LibtorchSettingsTest, OfTheOneThatRunsAreThoseOfTheOneThatWasBuiltWith) {
  EXPECT_EQ(libtorch_settings(at::show_config()).version, libtorch_version());
}

}  // namespace libtorch_settings_test
}  // namespace pagoda
