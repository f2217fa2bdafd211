#include "models/decoding_kernels.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace decoding_kernels_test {

using Places = std::vector<std::int64_t>;

template <class T>
Places top(const std::vector<T>& values, std::int64_t best) {
  Places places(static_cast<std::size_t>(best));
  find_top(TopOfRow<T>{values.data(), std::ssize(values), best, places.data()});
  return places;
}

TEST(DecodingKernelsTest, TheGreatestComeFirstAndOfEqualOnesTheFirst) {
  EXPECT_EQ(top<float>({1, 3, 2, 3, 0}, 3), (Places{1, 3, 2}));
  EXPECT_EQ(top<double>({5}, 1), (Places{0}));
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(top<double>({none, 2, none}, 2), (Places{1, -1}));
  EXPECT_EQ(top<double>({std::nan(""), 2, 1}, 2), (Places{1, 2}));
}

TEST(DecodingKernelsTest, FindsWhatSortingFindsForAnySize) {
  torch::manual_seed(1);
  for (const std::int64_t size : {1, 15, 16, 17, 63, 64, 65, 1000, 8009}) {
    const at::Tensor values = torch::randn({size});
    const std::int64_t best = std::min<std::int64_t>(size, 5);
    const auto expected = std::get<1>(values.topk(best));
    const auto* begin = values.const_data_ptr<float>();
    const Places found = top(std::vector<float>(begin, begin + size), best);
    for (std::int64_t i = 0; i < best; ++i)
      EXPECT_EQ(found[static_cast<std::size_t>(i)], expected[i].item<std::int64_t>()) << size;
    EXPECT_NEAR(log_sum_exp(begin, size), values.to(torch::kDouble).logsumexp(0).item<double>(),
                1e-5);
  }
}

template <class T>
void expect_attention_as_the_formula_says(std::int64_t size, std::int64_t places,
                                          double tolerance) {
  constexpr std::int64_t kHeads = 2;
  const auto type = c10::CppTypeToScalarType<T>::value;
  const at::Tensor query = torch::randn({kHeads, size}, type);
  const at::Tensor keys = torch::randn({places, kHeads, size}, type);
  const at::Tensor values = torch::randn({places, kHeads, size}, type);
  std::vector<const T*> key, value;
  for (std::int64_t i = 0; i < places; ++i) {
    key.push_back(keys[i].const_data_ptr<T>());
    value.push_back(values[i].const_data_ptr<T>());
  }
  std::vector<T> scratch(static_cast<std::size_t>(attention_scratch<T>(places)));
  std::vector<double> weights(key.size());
  const at::Tensor result = torch::empty({kHeads, size}, type);
  attend_one(AttendOne<T>{.query = query.const_data_ptr<T>(),
                          .heads = kHeads,
                          .size = size,
                          .keys = key.data(),
                          .values = value.data(),
                          .places = places,
                          .scratch = scratch.data(),
                          .result = result.mutable_data_ptr<T>(),
                          .weights = weights.data(),
                          .next_keys = key.data(),
                          .next_values = value.data(),
                          .next_places = places / 2});
  const auto exact = [](const at::Tensor& tensor) { return tensor.to(torch::kDouble); };
  const at::Tensor shares =
      ((exact(keys) * exact(query)).sum(2) / std::sqrt(static_cast<double>(size))).softmax(0);
  const at::Tensor expected = (shares.unsqueeze(2) * exact(values)).sum(0);
  EXPECT_TRUE(at::allclose(exact(result), expected, tolerance, tolerance));
  EXPECT_TRUE(
      at::allclose(torch::tensor(weights, at::kDouble), shares.mean(1), tolerance, tolerance));
}

TEST(DecodingKernelsTest, OneQueryFindsWhatTheFormulaSays) {
  torch::manual_seed(2);
  for (const std::int64_t size : {1, 3, 4, 16, 17, 23, 32}) {
    for (const std::int64_t places : {1, 2, 19}) {
      SCOPED_TRACE(std::to_string(size) + " numbers, " + std::to_string(places) + " places");
      expect_attention_as_the_formula_says<double>(size, places, 1e-12);
      expect_attention_as_the_formula_says<float>(size, places, 3e-6);
    }
  }
}

TEST(DecodingKernelsTest, RowsAreScaledToOneAndBack) {
  torch::manual_seed(3);
  for (const std::int64_t width : {1, 7, 8, 9, 131}) {
    const at::Tensor values = torch::randn({3, width}) * 5;
    values[1].zero_();
    const at::Tensor scaled = torch::empty_like(values);
    std::vector<float> greatest(3);
    scale_rows({.values = values.const_data_ptr<float>(),
                .rows = 3,
                .width = width,
                .scaled = scaled.mutable_data_ptr<float>(),
                .greatest = greatest.data()});
    EXPECT_EQ(greatest[0], values[0].abs().max().item<float>());
    EXPECT_EQ(greatest[1], 0);
    EXPECT_LE(scaled.abs().max().item<float>(), 1.000001f);
    const at::Tensor bias = torch::randn({width});
    const at::Tensor back = scaled.clone();
    unscale_rows({.values = back.mutable_data_ptr<float>(),
                  .rows = 3,
                  .width = width,
                  .factors = greatest.data(),
                  .bias = bias.const_data_ptr<float>()});
    EXPECT_TRUE(at::allclose(back, values + bias, 1e-5, 1e-5)) << width;
  }
}

}  // namespace decoding_kernels_test
}  // namespace pagoda
