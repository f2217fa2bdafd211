#include "models/narrow_products.h"

#include <pagoda/base/autocast.h>

#include <array>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace narrow_products_test {

const at::Tensor kA = at::arange(6, at::kFloat).view({2, 3}).div(7);
const at::Tensor kB = at::arange(12, at::kFloat).view({3, 4}).div(11);
const at::Tensor kBias = at::arange(4, at::kFloat).div(3);

TEST(NarrowProductsTest, AreAsTheyLookWithoutAutocast) {
  EXPECT_EQ(product_type(kA), at::kFloat);
  EXPECT_TRUE(affine(kBias, kA, kB).equal(at::addmm(kBias, kA, kB)));
  EXPECT_TRUE(product(kA, kB).equal(at::mm(kA, kB)));
  const at::Tensor sum = at::ones({2, 4});
  add_product(sum, kA, kB);
  EXPECT_TRUE(sum.equal(at::addmm(at::ones({2, 4}), kA, kB)));
  const at::Tensor half = at::ones({1}, at::kHalf);
  EXPECT_EQ(widened_by_autocast(half).scalar_type(), at::kHalf);
}

TEST(NarrowProductsTest, RoundOperandsAndResultButNotTheRest) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const AutocastScope scope(at::kCPU, {.cached = false, .type = type});
    ASSERT_EQ(product_type(kA), type);
    EXPECT_EQ(widened_by_autocast(kA.to(type)).scalar_type(), at::kFloat);
    const WithoutAutocast as_they_are;
    const at::Tensor b = kB.to(type);
    const at::Tensor expected = at::mm(kA.to(type), b).to(at::kFloat);
    EXPECT_TRUE(product(kA, b).equal(expected));
    EXPECT_TRUE(affine(kBias, kA, b).equal(expected + kBias));
    const at::Tensor sum = at::ones({2, 4});
    add_product(sum, kA, b);
    EXPECT_TRUE(sum.equal(expected + 1));
    EXPECT_EQ(at::mm(kA, kB).scalar_type(), at::kFloat);
    EXPECT_FALSE(widened_by_autocast(at::Tensor()).defined());
  }
}

/// Whole numbers divided by 8, whose products and sums are exact in 16 bits as well.
at::Tensor exact(at::IntArrayRef sizes) { return at::randint(-2, 3, sizes, at::kFloat).div_(8); }

TEST(NarrowProductsTest, SizesThatAreRoundedUpDoNotShow) {
  for (const auto& [rows, inner, columns] : {std::array<std::int64_t, 3>{1, 1, 1},
                                             {0, 5, 7},
                                             {5, 0, 7},
                                             {33, 31, 32},
                                             {129, 64, 257},
                                             {40, 131, 65}}) {
    for (const bool turned : {false, true}) {
      const at::Tensor a = turned ? exact({inner, rows}).t() : exact({rows, inner});
      const at::Tensor b = turned ? exact({columns, inner}).t() : exact({inner, columns});
      const at::Tensor found = product(a, b.to(at::kBFloat16));
      EXPECT_TRUE(found.is_contiguous());
      EXPECT_TRUE(found.equal(at::mm(a, b).to(at::kBFloat16).to(at::kFloat)))
          << rows << " " << inner << " " << columns;
    }
  }
}

TEST(NarrowProductsTest, DoubleIsLeftAlone) {
  const AutocastScope scope(at::kCPU, {.type = at::kHalf});
  EXPECT_EQ(product_type(kA.to(at::kDouble)), at::kDouble);
}

}  // namespace narrow_products_test
}  // namespace pagoda
