#include "program/input_check.h"

#include <pagoda/base/error.h>

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace input_check_test {

const std::string kBatch = "Symbol('s17', positive=True, integer=True)";

InputCheck check_of(std::vector<GraphSize> x, std::vector<GraphSize> y) {
  GraphProgram program;
  program.inputs = {{.kind = InputSpec::Kind::user, .name = "x"},
                    {.kind = InputSpec::Kind::user, .name = "y"}};
  program.graph.tensors = {{"x", {at::kFloat, std::move(x)}}, {"y", {at::kLong, std::move(y)}}};
  program.symbols = {{"s17", {.least = 2, .most = 64}}};
  return InputCheck(program);
}

std::string refusal_of(const InputCheck& check, const std::vector<at::Tensor>& inputs) {
  try {
    check.check(inputs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

at::Tensor floats(at::IntArrayRef sizes) { return at::ones(sizes); }
at::Tensor longs(at::IntArrayRef sizes) { return at::ones(sizes, at::kLong); }

TEST(InputCheckTest, SizesTypesAndDimensionsAreToldByName) {
  const InputCheck check =
      check_of({{.expression = kBatch}, {.number = 32}}, {{.expression = kBatch}});
  EXPECT_EQ(refusal_of(check, {floats({4, 32}), longs({4})}), "");
  EXPECT_EQ(refusal_of(check, {floats({4, 28}), longs({4})}),
            "input x: 28 columns, the program was exported for 32");
  EXPECT_EQ(refusal_of(check, {floats({1, 32}), longs({1})}),
            "input x: 1 row, the program was exported for 2 to 64");
  EXPECT_EQ(refusal_of(check, {floats({65, 32}), longs({65})}),
            "input x: 65 rows, the program was exported for 2 to 64");
  EXPECT_EQ(refusal_of(check, {floats({4, 32}), longs({5})}),
            "input y: 5 rows, the program was exported for as many as input x has, which is 4");
  EXPECT_EQ(refusal_of(check, {floats({4, 32}), floats({4})}),
            "input y: float32, the program was exported for int64");
  EXPECT_EQ(refusal_of(check, {floats({4}), longs({4})}),
            "input x: 1 dimensions, the program was exported for 2");
  EXPECT_EQ(refusal_of(check, {floats({4, 32})}), "the program takes 2 inputs (x, y), not 1");
  EXPECT_EQ(refusal_of(check, {floats({4, 32}), at::Tensor()}), "input y: there is no tensor");
}

TEST(InputCheckTest, SizesThatAreFixedAreKnown) {
  const InputCheck check =
      check_of({{.expression = kBatch}, {.number = 32}}, {{.expression = kBatch}});
  EXPECT_EQ(check.sizes(), (std::vector<std::vector<std::int64_t>>{{-1, 32}, {-1}}));
}

TEST(InputCheckTest, ComputedSizesAreCompared) {
  const InputCheck check =
      check_of({{.expression = "Mul(Integer(2), " + kBatch + ")"}}, {{.expression = kBatch}});
  EXPECT_EQ(refusal_of(check, {floats({8}), longs({4})}), "");
  EXPECT_EQ(refusal_of(check, {floats({9}), longs({4})}),
            "input x: 9 rows, the program was exported for 2*s17, which is 8 here");
}

TEST(InputCheckTest, ANumberIsATensorOfOne) {
  GraphProgram program;
  program.inputs = {{.kind = InputSpec::Kind::user, .name = "n", .is_number = true}};
  const InputCheck check(program);
  EXPECT_EQ(refusal_of(check, {longs({})}), "");
  EXPECT_EQ(refusal_of(check, {floats({})}),
            "input n: the program was exported for a whole number");
}

TEST(InputCheckTest, IsWrittenForPeople) {
  EXPECT_EQ(meta_text({at::kFloat, {{.expression = kBatch}, {.number = 3}}}), "float32 [s17, 3]");
}

}  // namespace input_check_test
}  // namespace pagoda
