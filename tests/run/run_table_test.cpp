// Whole runs on tensors in files, and with parts of the model frozen.

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/data/tensor_table.h>
#include <pagoda/run/run.h>

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/run_fixtures.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace run_table_test {

using testing::kInputs;
using testing::message_of;
using testing::Mlp;
using testing::newest_checkpoint;
using testing::ScratchDirectory;
using testing::small_run;
using testing::vector_feed;

/// The samples that small_run's fixtures have, in a file.
void save_rows(const std::filesystem::path& path, std::int64_t first, std::int64_t count) {
  const Batch rows = vector_feed(first, count);
  save_state_dict({{"x", rows.input.to(at::kFloat)}, {"y", rows.target.to(at::kFloat)}}, path);
}

at::Tensor table_loss(Mlp& model, const NamedBatch& batch) {
  return torch::mse_loss(model(batch.get("x")), batch.get("y"));
}

RunSummary train_on_tables(const RunOptions& options, const TensorTable& data,
                           const TensorTable& validation) {
  pagoda::Run run(options, [] { return Mlp(); });
  return run.train(data, validation, table_loss);
}

bool same_tensors(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.tensor.equal(y.tensor);
  });
}

TEST(RunTableTest, TrainsAsOnTensorsInMemoryResumesAndKnowsItsFiles) {
  const ScratchDirectory scratch;
  save_rows(scratch / "a.safetensors", 0, 11);
  save_rows(scratch / "b.safetensors", 11, 6);
  save_rows(scratch / "valid.safetensors", 100, 5);
  const auto train = [&](const char* out, std::int64_t steps) {
    return train_on_tables(small_run(scratch / out, steps),
                           TensorTable({scratch / "a.safetensors", scratch / "b.safetensors"}),
                           TensorTable({scratch / "valid.safetensors"}));
  };
  train("whole", 7);
  train("parts", 4);
  train("parts", 7);
  const Checkpoint whole = newest_checkpoint(scratch / "whole");
  EXPECT_TRUE(same_tensors(newest_checkpoint(scratch / "parts").model, whole.model));

  pagoda::Run plain(small_run(scratch / "plain", 7), [] { return Mlp(); });
  plain.train(testing::samples(17), testing::samples(5, 100), [](Mlp& model, const Batch& batch) {
    return torch::mse_loss(model(batch.input), batch.target);
  });
  EXPECT_TRUE(same_tensors(newest_checkpoint(scratch / "plain").model, whole.model));

  const auto record = read_data_record(scratch / "whole");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->of_role("train").size(), 2u);
  EXPECT_EQ(record->of_role("test").size(), 1u);
  save_rows(scratch / "b.safetensors", 12, 6);
  EXPECT_NE(message_of<Error>([&] { train("parts", 9); }).find("b.safetensors (train): "),
            std::string::npos);
}

TEST(RunTableTest, WhatIsFrozenStaysAlsoWhenTheRunResumes) {
  const ScratchDirectory scratch;
  save_rows(scratch / "rows.safetensors", 0, 17);
  const TensorTable table({scratch / "rows.safetensors"});
  const auto options = [&](const char* out, std::int64_t steps) {
    RunOptions options = small_run(scratch / out, steps);
    options.optimizer.freeze = {"hidden.*"};
    options.optimizer.lr_factor = {{"output.bias", 0}};
    return options;
  };
  train_on_tables(options("first", 1), table, table);
  train_on_tables(options("whole", 7), table, table);
  train_on_tables(options("parts", 3), table, table);
  train_on_tables(options("parts", 7), table, table);
  const auto before = newest_checkpoint(scratch / "first").model;
  const auto after = newest_checkpoint(scratch / "whole").model;
  EXPECT_TRUE(same_tensors(newest_checkpoint(scratch / "parts").model, after));
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].tensor.equal(before[i].tensor), after[i].name != "output.weight")
        << after[i].name;
  }

  RunOptions other = options("parts", 9);
  other.optimizer.freeze = {"hidden.bias"};
  EXPECT_NE(message_of<UsageError>([&] { train_on_tables(other, table, table); }).find("freeze"),
            std::string::npos);
  other = options("new", 1);
  other.optimizer.freeze = {"hiden.*"};
  EXPECT_EQ(message_of<UsageError>([&] { train_on_tables(other, table, table); }),
            "no parameter fits the rule for 'hiden.*'; near it are 'hidden.weight', 'hidden.bias', "
            "'output.weight'");
  EXPECT_FALSE(std::filesystem::exists(scratch / "new"));
}

}  // namespace run_table_test
}  // namespace pagoda
