#include "models/fast_product.h"

#include <cmath>

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace fast_product_test {

struct Sizes {
  std::int64_t rows, inner, columns;
};

/// Whole numbers divided by 8, whose products and sums are exact in every order.
at::Tensor exact(at::IntArrayRef sizes) { return at::randint(-8, 9, sizes, at::kFloat).div_(8); }

TEST(FastProductTest, IsTheProductForAnySizesAndStrides) {
  for (const auto& [rows, inner, columns] :
       {Sizes{209, 64, 1000}, Sizes{64, 256, 1024}, Sizes{1, 1024, 1031}, Sizes{1031, 1, 1024},
        Sizes{511, 128, 1024}, Sizes{128, 511, 1024}, Sizes{735, 479, 700}, Sizes{351, 20, 2000},
        Sizes{777, 300, 512}, Sizes{255, 257, 513}, Sizes{513, 255, 256}, Sizes{3, 5, 7},
        Sizes{0, 5, 7}, Sizes{3, 0, 7}, Sizes{3, 5, 0}}) {
    for (const bool turned : {false, true}) {
      const at::Tensor a = turned ? exact({inner, rows}).t() : exact({rows, inner});
      const at::Tensor b = turned ? exact({columns, inner}).t() : exact({inner, columns});
      const at::Tensor product = at::mm(a.to(at::kDouble), b.to(at::kDouble)).to(at::kFloat);
      const at::Tensor out = at::full({rows, columns}, std::nanf(""));
      multiply_into(out, a, b);
      EXPECT_TRUE(at::equal(out, product)) << rows << " " << inner << " " << columns;
      multiply_add(out, a, b);
      EXPECT_TRUE(at::equal(out, product * 2)) << rows << " " << inner << " " << columns;
    }
  }
}

TEST(FastProductTest, RowsOfALargerResultAreWrittenAlone) {
  const at::Tensor a = exact({40, 256});
  const at::Tensor b = exact({256, 512});
  const at::Tensor whole = at::ones({42, 512});
  multiply_into(whole.narrow(0, 1, 40), a, b);
  EXPECT_TRUE(at::equal(whole.narrow(0, 1, 40), at::mm(a, b)));
  EXPECT_TRUE(at::equal(whole[0], at::ones({512})));
  EXPECT_TRUE(at::equal(whole[41], at::ones({512})));
}

TEST(FastProductTest, DoublesSmallOnesAndWhatUsersForbidAreNotOneDnns) {
  const at::Tensor large = at::ones({256, 256});
  const at::Tensor doubles = large.to(at::kDouble);
  EXPECT_FALSE(is_by_onednn(doubles, doubles, doubles));
  const at::Tensor small = at::ones({8, 8});
  EXPECT_FALSE(is_by_onednn(small, small, small));
  EXPECT_FALSE(is_by_onednn(at::empty({512, 256}).t().narrow(1, 0, 256), large, large));
  at::globalContext().setUserEnabledMkldnn(false);
  EXPECT_FALSE(is_by_onednn(large, large, large));
  at::globalContext().setUserEnabledMkldnn(true);
  const at::Tensor product = at::empty_like(doubles);
  multiply_into(product, doubles, doubles);
  EXPECT_TRUE(at::equal(product, at::full({256, 256}, 256.0, at::kDouble)));
}

}  // namespace fast_product_test
}  // namespace pagoda
