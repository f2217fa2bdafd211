#include <pagoda/base/error.h>
#include <pagoda/optim/updater.h>

#include <string>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace updater_test {

TEST(UpdaterParametersTest, FloatAndDoubleWithoutGapsAreTaken) {
  EXPECT_NO_THROW(check_parameters(
      {{"scalar", at::empty({}, at::kFloat)},
       {"empty", at::empty({0, 3}, at::kDouble)},
       {"transposed", at::empty({3, 5}, at::kDouble).t()},
       {"channels_last", at::empty({2, 3, 4, 5}).to(at::MemoryFormat::ChannelsLast)}}));
}

TEST(UpdaterParametersTest, OthersAreRefusedByName) {
  const NamedTensor refused[] = {
      {"BFloat16", at::empty({3}, at::kBFloat16)},
      {"Half", at::empty({3}, at::kHalf)},
      {"Long", at::empty({3}, at::kLong)},
      {"meta", at::empty({3}, at::TensorOptions(at::kMeta))},
      {"gaps", at::empty({4, 6}).slice(1, 0, 3)},
      {"overlap", at::empty({1}).expand({3})},
  };
  for (const auto& entry : refused) {
    try {
      check_parameters({{"fine", at::empty({2})}, entry});
      ADD_FAILURE() << entry.name << " was taken";
    } catch (const UsageError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("parameter '" + entry.name + "'"), std::string::npos) << text;
      EXPECT_NE(text.find("is " + std::string(c10::toString(entry.tensor.scalar_type()))),
                std::string::npos);
    }
  }
}

}  // namespace updater_test
}  // namespace pagoda
