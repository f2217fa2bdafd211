#include <pagoda/base/error.h>
#include <pagoda/params/parameter_table.h>

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

namespace pagoda {
namespace parameter_table_test {

std::vector<std::string> names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& entry : tensors) names.push_back(entry.name);
  return names;
}

using Names = std::vector<std::string>;

struct Tied : torch::nn::Module {
  Tied() {
    embedding = register_module("embedding", torch::nn::Embedding(5, 3));
    norm = register_module("norm", torch::nn::BatchNorm1d(3));
    output = register_parameter("output", embedding->weight);
    scale = register_parameter("scale", torch::ones({}), /*requires_grad=*/false);
    register_parameter("nothing", torch::Tensor(), /*requires_grad=*/false);
    register_buffer("mask", torch::ones({2}));
  }
  torch::nn::Embedding embedding{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  torch::Tensor output;
  torch::Tensor scale;
};

TEST(ParameterTableTest, ListsEveryTensorOnceByKindInOrderOfRegistration) {
  const Tied model;
  const ParameterTable table = table_of(model);
  // LibTorch lists a module's own tensors before those of its children.
  EXPECT_EQ(names(table.trainable), (Names{"output", "norm.weight", "norm.bias"}));
  EXPECT_EQ(names(table.frozen), Names{"scale"});
  EXPECT_EQ(names(table.buffers),
            (Names{"mask", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(element_count(table.trainable), 5 * 3 + 3 + 3);
  EXPECT_EQ(element_count(table.frozen), 1);
  EXPECT_EQ(element_count({}), 0);
}

TEST(ParameterTableTest, EntriesFollowAModelThatGetsOtherStorage) {
  Tied model;
  const ParameterTable table = table_of(model);
  model.norm->bias.set_data(torch::full({3}, 7.0));
  EXPECT_TRUE(table.trainable[2].tensor.equal(torch::full({3}, 7.0)));
}

TEST(ParameterTableTest, RefusesDifferentTrainableTensorsOverOneMemory) {
  const torch::Tensor memory = torch::zeros({10});
  const auto table_of_slices = [&](int second_begin, bool second_requires_grad) {
    torch::nn::Module model;
    model.register_parameter("high", memory.slice(0, second_begin, 10), second_requires_grad);
    model.register_parameter("low", memory.slice(0, 0, 5));
    model.register_parameter("empty", memory.slice(0, 2, 2));
    return table_of(model);
  };
  EXPECT_NO_THROW(table_of_slices(5, true)) << "neighbours";
  EXPECT_NO_THROW(table_of_slices(4, false)) << "nobody updates a frozen parameter";
  try {
    table_of_slices(4, true);
    FAIL() << "element 4 has two owners";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'low' and 'high'"), std::string::npos)
        << error.what();
  }
}

ParameterTable linear_table(int outputs = 2) { return table_of(*torch::nn::Linear(3, outputs)); }

TEST(SameLayoutTest, ValuesMayDiffer) {
  EXPECT_NO_THROW(check_same_layout(linear_table(), linear_table(), "tower 1"));
}

TEST(SameLayoutTest, NamesTheFirstDifference) {
  struct Case {
    const char* what;
    std::function<void(ParameterTable&)> change;
    const char* named;
  };
  const Case cases[] = {
      {"shape", [](ParameterTable& table) { table = linear_table(4); }, "'weight' Float[4, 3]"},
      {"type",
       [](ParameterTable& table) { table.trainable[1].tensor = torch::zeros({2}, torch::kDouble); },
       "'bias' Double[2]"},
      {"name", [](ParameterTable& table) { table.trainable[1].name = "shift"; }, "'shift'"},
      {"fewer", [](ParameterTable& table) { table.trainable.pop_back(); }, "1 is nothing"},
      {"more",
       [](ParameterTable& table) {
         table.trainable.push_back({"extra", torch::zeros({1})});
       },
       "'extra' Float[1], not nothing"},
      {"frozen",
       [](ParameterTable& table) {
         table.frozen.push_back(table.trainable[1]);
         table.trainable.pop_back();
       },
       "'bias'"},
      {"buffers",
       [](ParameterTable& table) {
         table.buffers.push_back({"mask", torch::zeros({1})});
       },
       "buffer 0 is 'mask'"},
  };
  for (const auto& [what, change, named] : cases) {
    ParameterTable other = linear_table();
    change(other);
    try {
      check_same_layout(linear_table(), other, "tower 3");
      ADD_FAILURE() << "a difference of " << what << " was not seen";
    } catch (const UsageError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(named), std::string::npos) << text;
      EXPECT_NE(text.find("tower 3"), std::string::npos) << text;
    }
  }
}

}  // namespace parameter_table_test
}  // namespace pagoda
