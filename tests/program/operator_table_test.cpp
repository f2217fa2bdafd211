#include "program/operator_table.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace operator_table_test {

TEST(OperatorTableTest, FindsLibTorchsOperatorsByTheirOverload) {
  const OperatorTable table({});
  EXPECT_EQ(table.find("torch.ops.aten.add.Tensor").handle->schema().overload_name(), "Tensor");
  EXPECT_EQ(table.find("torch.ops.aten.relu.default").handle->schema().overload_name(), "");
}

TEST(OperatorTableTest, OthersAreRefusedWithTheReason) {
  const OperatorTable table({"mine"});
  EXPECT_EQ(table.find("torch.ops.aten.nothing.default").refusal,
            "is not in this version of LibTorch");
  EXPECT_EQ(table.find("torch.ops.prim.device.default").refusal,
            "belongs to a library that was not loaded");
  EXPECT_EQ(table.find("torch.ops.mine.thing.default").refusal,
            "is not in this version of LibTorch");
  EXPECT_EQ(table.find("torch.ops.aten.from_file.out").refusal,
            "reaches files or the terminal, and is never called");
  for (const char* target :
       {"", "torch.ops.", "torch.ops.aten", "torch.ops.aten.relu", "os.system"})
    EXPECT_EQ(table.find(target).refusal, "is no operator of LibTorch") << target;
}

TEST(OperatorTableTest, TargetsAreWrittenAsOperators) {
  EXPECT_EQ(operator_text("torch.ops.aten.add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(operator_text("torch.ops.aten.relu.default"), "aten::relu");
  EXPECT_EQ(operator_text("torch.ops.higher_order.scan"), "higher_order.scan");
  EXPECT_EQ(operator_text("_operator.mul"), "_operator.mul");
}

}  // namespace operator_table_test
}  // namespace pagoda
