#include "optim/update_kernels.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace update_kernels_test {

/// Element i of everything that an update reads and writes.
struct Element {
  double parameter;
  double state[3];
  double average;
  double gradient;
};

Element element(std::int64_t i) {
  const auto x = static_cast<double>(i);
  // All positive, and state[0] > state[2]²: second moments, and variances in a centered RMSprop.
  return {
      .parameter = std::sin(x),
      .state = {0.5 + 0.25 * std::cos(x), 0.5 + 0.25 * std::sin(x), 0.3 + 0.1 * std::cos(2 * x)},
      .average = std::cos(x),
      .gradient = std::sin(2 * x + 1)};
}

/// What the step makes of an element whose gradient has the L2 term already.
using Formula = std::function<void(Element&)>;

struct StepCase {
  std::string name;
  UpdateStep step;
  Formula formula;
};

constexpr double kRate = 0.1;

std::vector<StepCase> step_cases() {
  const auto rmsprop = [](double momentum, bool centered) {
    return [=](Element& e) {
      e.state[0] = 0.9 * e.state[0] + 0.1 * e.gradient * e.gradient;
      if (centered) e.state[2] = 0.9 * e.state[2] + 0.1 * e.gradient;
      const double mean = centered ? e.state[2] : 0;
      const double direction = e.gradient / (std::sqrt(e.state[0] - mean * mean) + 1e-3);
      if (momentum != 0) e.state[1] = momentum * e.state[1] + direction;
      e.parameter -= kRate * (momentum != 0 ? e.state[1] : direction);
    };
  };
  const auto rmsprop_step = [](double momentum, bool centered) {
    return RmsPropStep{
        .rate = kRate, .alpha = 0.9, .epsilon = 1e-3, .momentum = momentum, .centered = centered};
  };
  return {
      {"sgd", SgdStep{kRate}, [](Element& e) { e.parameter -= kRate * e.gradient; }},
      {"momentum",
       MomentumStep{
           .rate = kRate, .momentum = 0.9, .gain = 0.7, .look_ahead = 1, .from_gradient = 0},
       [](Element& e) {
         e.state[0] = 0.9 * e.state[0] + 0.7 * e.gradient;
         e.parameter -= kRate * e.state[0];
       }},
      {"nesterov",
       MomentumStep{
           .rate = kRate, .momentum = 0.9, .gain = 1, .look_ahead = 0.9, .from_gradient = 1},
       [](Element& e) {
         e.state[0] = 0.9 * e.state[0] + e.gradient;
         e.parameter -= kRate * (e.gradient + 0.9 * e.state[0]);
       }},
      {"adam",
       AdamStep{.rate = kRate,
                .beta1 = 0.8,
                .beta2 = 0.9,
                .epsilon = 1e-3,
                .root_correction = 2,
                .keep = 0.75},
       [](Element& e) {
         e.state[0] = 0.8 * e.state[0] + 0.2 * e.gradient;
         e.state[1] = 0.9 * e.state[1] + 0.1 * e.gradient * e.gradient;
         e.parameter = 0.75 * e.parameter - kRate * e.state[0] / (2 * std::sqrt(e.state[1]) + 1e-3);
       }},
      {"adagrad", AdagradStep{.rate = kRate, .epsilon = 1e-3},
       [](Element& e) {
         e.state[0] += e.gradient * e.gradient;
         e.parameter -= kRate * e.gradient / (std::sqrt(e.state[0]) + 1e-3);
       }},
      {"rmsprop", rmsprop_step(0, false), rmsprop(0, false)},
      {"rmsprop_momentum", rmsprop_step(0.9, false), rmsprop(0.9, false)},
      {"rmsprop_centered", rmsprop_step(0, true), rmsprop(0, true)},
      {"rmsprop_centered_momentum", rmsprop_step(0.9, true), rmsprop(0.9, true)},
      {"average_only", AverageStep{}, [](Element&) {}},
  };
}

/// `count` elements, and one more that no update may touch.
template <class T>
struct Arrays {
  explicit Arrays(std::int64_t count) {
    for (std::int64_t i = 0; i <= count; ++i) {
      const Element e = element(i);
      parameter.push_back(static_cast<T>(e.parameter));
      for (int slot = 0; slot < 3; ++slot) state[slot].push_back(static_cast<T>(e.state[slot]));
      average.push_back(static_cast<T>(e.average));
      gradient.push_back(static_cast<T>(e.gradient));
    }
  }

  UpdateSpan<T> span(std::int64_t begin, std::int64_t count) {
    return {.parameter = parameter.data() + begin,
            .state = {state[0].data() + begin, state[1].data() + begin, state[2].data() + begin},
            .average = average.data() + begin,
            .gradient = gradient.data() + begin,
            .count = count};
  }

  bool operator==(const Arrays&) const = default;

  std::vector<T> parameter;
  std::array<std::vector<T>, 3> state;
  std::vector<T> average;
  std::vector<T> gradient;
};

class UpdateKernelsTest : public ::testing::TestWithParam<StepCase> {
 protected:
  static constexpr double kL2 = 0.5;
  static constexpr double kGain = 0.25;

  /// Checks element i after an update of elements [0, count).
  template <class T>
  static void expect_element(const Arrays<T>& arrays, std::int64_t i, std::int64_t count,
                             bool averaged, double tolerance) {
    Element expected = element(i);
    if (i < count) {
      expected.gradient += kL2 * expected.parameter;
      GetParam().formula(expected);
      if (averaged) expected.average += kGain * (expected.parameter - expected.average);
    }
    const auto at = static_cast<std::size_t>(i);
    ASSERT_NEAR(arrays.parameter[at], expected.parameter, tolerance) << i << " of " << count;
    ASSERT_NEAR(arrays.average[at], expected.average, tolerance) << i << " of " << count;
    for (std::size_t slot = 0; slot < 3; ++slot) {
      ASSERT_NEAR(arrays.state[slot][at], expected.state[slot], tolerance) << slot << ", " << i;
    }
  }

  template <class T>
  static void expect_formula(bool averaged, double tolerance) {
    for (const std::int64_t count : {0, 1, 7, 8, 101, 1025}) {
      Arrays<T> arrays(count);
      UpdateSpan<T> span = arrays.span(0, count);
      if (!averaged) span.average = nullptr;
      update_span(GetParam().step, kL2, kGain, span);
      for (std::int64_t i = 0; i <= count; ++i)
        expect_element(arrays, i, count, averaged, tolerance);
    }
  }
};

TEST_P(UpdateKernelsTest, FollowsTheFormulaAndTheAverageFollowsTheParameter) {
  expect_formula<double>(true, 1e-14);
  expect_formula<float>(true, 1e-5);
}

TEST_P(UpdateKernelsTest, AverageMayBeAbsent) {
  if (std::holds_alternative<AverageStep>(GetParam().step)) return;  // nothing but the average
  expect_formula<double>(false, 1e-14);
  expect_formula<float>(false, 1e-5);
}

TEST_P(UpdateKernelsTest, BitsDoNotDependOnHowASpanIsCut) {
  Arrays<float> whole(1025);
  Arrays<float> cut(1025);
  update_span(GetParam().step, kL2, kGain, whole.span(0, 1025));
  update_span(GetParam().step, kL2, kGain, cut.span(0, 1));
  update_span(GetParam().step, kL2, kGain, cut.span(1, 13));
  update_span(GetParam().step, kL2, kGain, cut.span(14, 1011));
  EXPECT_TRUE(whole == cut);
}

INSTANTIATE_TEST_SUITE_P(EveryStep, UpdateKernelsTest, ::testing::ValuesIn(step_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace update_kernels_test
}  // namespace pagoda
