// The device updater runs on the CPU too: there it must come to what the fused pass comes to.

#include <memory>
#include <vector>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "optim/fused_updater.h"
#include "optim/optimizer_pass.h"
#include "optim/update_fixtures.h"

namespace pagoda {
namespace device_updater_test {

using namespace pagoda::testing;

Parameters parameters_of(at::ScalarType type) {
  return {{"empty", filled({0}, type, start)},
          {"scalar", filled({}, type, start)},
          {"long", filled({16 * 1024 + 1}, type, start)},
          {"matrix", filled({7, 131}, type, start)},
          {"convolution",
           filled({3, 4, 5, 6}, type, start).contiguous(at::MemoryFormat::ChannelsLast)}};
}

class DeviceUpdaterTest : public ::testing::TestWithParam<NamedOptimizer> {};
INSTANTIATE_TEST_SUITE_P(EveryOptimizer, DeviceUpdaterTest, ::testing::ValuesIn(every_optimizer()),
                         name_of);

TEST_P(DeviceUpdaterTest, EqualsTheFusedPass) {
  for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-12}, {at::kFloat, 1e-5}}) {
    const Parameters fused = parameters_of(type);
    const Parameters device = copy_of(fused);
    const auto of_fused = make_fused_updater(fused, GetParam().options, kL2AndAverage);
    const auto of_device = make_device_part(device, GetParam().options, kL2AndAverage, {});
    for (std::int64_t update = 0; update < 4; ++update) {
      GradientView view = dense_view(fused, {0.5, 0.25}, update);
      if (update == 2) view.parameters[3] = ParameterGradient();  // not used
      run_update(*of_fused, view, update, 1, 0.5);
      run_update(*of_device, view, update, 3, 0.5);
    }
    expect_near(everything(device, *of_device), everything(fused, *of_fused), tolerance);
  }
}

TEST_P(DeviceUpdaterTest, RowsEqualTheFusedPass) {
  for (const RowUpdate rows : {RowUpdate::exact, RowUpdate::lazy}) {
    for (const double l2 : {0.0, 0.01}) {
      const UpdateOptions options{
          .l2 = l2, .moving_average = MovingAverage{.decay = 0.75}, .rows = rows};
      const Parameters fused = {{"embedding", filled({20'000, 3}, at::kDouble, start)}};
      const Parameters device = copy_of(fused);
      const auto of_fused = make_fused_updater(fused, GetParam().options, options);
      const auto of_device = make_device_part(device, GetParam().options, options, {});
      for (std::int64_t update = 0; update < 4; ++update) {
        const auto values = [&](int tower, std::int64_t count) {
          return filled({count, 3}, at::kDouble, [=](auto i) { return slope(tower, update, i); });
        };
        const GradientView view{.weights = {0.5, 0.25},
                                .parameters = {row_gradient(
                                    {{.rows = {0, 5461 + update, 19'999}, .values = values(0, 3)},
                                     {.rows = {update, 12'000}, .values = values(1, 2)}})}};
        run_update(*of_fused, view, update);
        run_update(*of_device, view, update, 3);
      }
      expect_near(everything(device, *of_device), everything(fused, *of_fused), 1e-12);
    }
  }
}

}  // namespace device_updater_test
}  // namespace pagoda
