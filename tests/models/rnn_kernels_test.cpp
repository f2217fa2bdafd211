#include "models/rnn_kernels.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "models/vector_math.h"

namespace pagoda {
namespace rnn_kernels_test {

TEST(VectorMathTest, AgreesWithTheCLibrary) {
  for (int i = -8700; i <= 8800; ++i) {
    const float x = static_cast<float>(i) * 0.01f;
    const double exact = std::exp(static_cast<double>(x));
    EXPECT_NEAR(vector_exp(x) / exact, 1, 3e-7) << x;
    EXPECT_NEAR(vector_sigmoid(x), 1 / (1 + 1 / exact), 2e-7) << x;
    EXPECT_NEAR(vector_tanh(x), std::tanh(static_cast<double>(x)), 3e-7) << x;
  }
  EXPECT_EQ(vector_sigmoid(-1000.0f), vector_sigmoid(-88.0f));
  EXPECT_EQ(vector_sigmoid(1000.0f), 1);
  EXPECT_EQ(vector_tanh(1000.0f), 1);
  EXPECT_EQ(vector_tanh(-1000.0f), -1);
}

TEST(RnnKernelsTest, SequencesThatHaveEndedKeepTheirStateAndPassTheirGradient) {
  const std::vector<std::int64_t> lengths{3, 2};
  const RnnStepShape shape{2, 1, 2, lengths.data()};  // step 2: only the first goes on
  std::vector<double> gates(8, 0.5);
  const std::vector<double> last_hidden{0.1, 0.2};
  const std::vector<double> last_cell{0.3, 0.4};
  std::vector<double> hidden(2), cell(2), tanh_cell(2);
  run_step(shape, LstmForward<double>{gates.data(), last_hidden.data(), last_cell.data(),
                                      hidden.data(), cell.data(), tanh_cell.data()});
  const double on = 1 / (1 + std::exp(-0.5));
  EXPECT_DOUBLE_EQ(cell[0], on * 0.3 + on * std::tanh(0.5));
  EXPECT_DOUBLE_EQ(hidden[0], on * std::tanh(cell[0]));
  EXPECT_EQ(cell[1], 0.4);
  EXPECT_EQ(hidden[1], 0.2);

  const std::vector<double> grad_hidden{1, 7};
  std::vector<double> grad_gates(8, -1), grad_cell{2, 8}, direct(2, -1);
  run_step(shape,
           LstmBackward<double>{gates.data(), grad_gates.data(), last_cell.data(), tanh_cell.data(),
                                grad_hidden.data(), grad_cell.data(), direct.data()});
  EXPECT_EQ(direct, (std::vector<double>{0, 7}));
  EXPECT_EQ(grad_cell[1], 8);
  for (int i = 4; i < 8; ++i) EXPECT_EQ(grad_gates[static_cast<std::size_t>(i)], 0);
  EXPECT_NE(grad_gates[0], 0);
}

TEST(RnnKernelsTest, TheSameForGrus) {
  const std::vector<std::int64_t> lengths{1, 0};
  const RnnStepShape shape{2, 1, 0, lengths.data()};
  std::vector<double> from_input(6, 0.5), from_state(6, 0.25), hidden(2);
  const std::vector<double> last{0.1, 0.2};
  run_step(shape,
           GruForward<double>{from_input.data(), from_state.data(), last.data(), hidden.data()});
  const double on = 1 / (1 + std::exp(-0.75));
  EXPECT_DOUBLE_EQ(hidden[0], (1 - on) * std::tanh(0.5 + on * 0.25) + on * 0.1);
  EXPECT_EQ(hidden[1], 0.2);

  const std::vector<double> grad_hidden{1, 7};
  std::vector<double> grad_input(6, -1), grad_state(6, -1), direct(2, -1);
  run_step(shape,
           GruBackward<double>{from_input.data(), from_state.data(), grad_input.data(),
                               grad_state.data(), last.data(), grad_hidden.data(), direct.data()});
  EXPECT_DOUBLE_EQ(direct[0], on);
  EXPECT_EQ(direct[1], 7);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(grad_input[i] * grad_state[i], 0);
}

}  // namespace rnn_kernels_test
}  // namespace pagoda
