#include "run/initial_weights.h"

#include <pagoda/base/error.h>
#include <pagoda/run/run.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/python_script.h"
#include "support/run_fixtures.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace initial_weights_test {

using testing::MeanSquare;
using testing::Mlp;
using testing::samples;
using testing::ScratchDirectory;

/// With a learning rate of 0 a run ends with what it began with.
RunOptions standing_run(const std::filesystem::path& out, const std::filesystem::path& file) {
  RunOptions options{.init_from = file, .batch_size = 2, .max_steps = 2, .out = out};
  options.devices.devices = "2";
  options.log_format = LogFormat::json;
  options.optimizer.lr = 0;
  options.optimizer.ema = 0.5;
  return options;
}

Checkpoint train(const RunOptions& options) {
  pagoda::Run run(options, [] { return Mlp(); });
  run.train(samples(8), samples(3), MeanSquare{});
  return testing::newest_checkpoint(options.out);
}

/// Mlp with weights of `value` throughout.
Mlp weights_of(double value) {
  Mlp model;
  torch::NoGradGuard no_grad;
  for (const auto& tensor : model->parameters()) tensor.fill_(value);
  return model;
}

bool all_are(const std::vector<NamedTensor>& tensors, double value) {
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.allclose(torch::full_like(tensor, value))) return false;
  }
  return !tensors.empty();
}

TEST(InitialWeightsTest, ANewRunBeginsWithThemAndOneThatResumesHasItsOwn) {
  const ScratchDirectory scratch;
  save_state_dict(*weights_of(0.25), scratch / "weights.pt");
  RunOptions options = standing_run(scratch / "out", scratch / "weights.pt");
  const Checkpoint first = train(options);
  EXPECT_TRUE(all_are(first.model, 0.25));
  EXPECT_TRUE(all_are(first.average, 0.25));

  std::filesystem::remove(scratch / "weights.pt");  // it is not read again
  options.max_steps = 4;
  EXPECT_EQ(train(options).state.step, 4);
  options.init_from = scratch / "others.pt";
  EXPECT_THROW(train(options), UsageError) << "it began with others";

  save_state_dict(*weights_of(0.75), scratch / "others.pt");
  options.overwrite = true;
  EXPECT_TRUE(all_are(train(options).model, 0.75));
}

TEST(InitialWeightsTest, AFileOfPythonsWithAPrefixIsTakenPartiallyAndTheLogSaysWhatWasNot) {
  const ScratchDirectory scratch;
  const auto code = testing::run_with_torch(scratch, R"(
import torch
model = torch.nn.Module()
model.hidden = torch.nn.Linear(4, 7)
model.old = torch.nn.Linear(1, 1)
for parameter in model.parameters(): torch.nn.init.constant_(parameter, 0.5)
torch.save(torch.nn.DataParallel(model).state_dict(), sys.argv[1])
)",
                                            scratch / "python.pt");
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch";
  ASSERT_EQ(*code, 0);
  RunOptions options = standing_run(scratch / "out", scratch / "python.pt");
  options.init_partially = true;
  options.init_remove_prefix = "module.";
  for (const auto& [name, tensor] : train(options).model)
    EXPECT_EQ(all_are({{name, tensor}}, 0.5), name.starts_with("hidden.")) << name;
  const std::string log = testing::read_file(scratch / "out" / "train.log");
  EXPECT_NE(log.find("it begins with the weights of " + options.init_from +
                     "; not in it, so with initial values: output.bias, output.weight; not taken "
                     "from it: module.old.bias, module.old.weight\n"),
            std::string::npos)
      << log;
}

TEST(InitialWeightsTest, AFileThatIsRefusedLeavesTheDirectoryAsItWas) {
  const ScratchDirectory scratch;
  RunOptions options = standing_run(scratch / "out", scratch / "missing.pt");
  EXPECT_THROW(train(options), IoError);
  EXPECT_FALSE(std::filesystem::exists(scratch / "out"));

  options.init_from.clear();
  const Checkpoint before = train(options);
  save_state_dict({{"other", torch::ones({1})}}, scratch / "other.pt");
  options.init_from = scratch / "other.pt";
  options.overwrite = true;
  EXPECT_THROW(train(options), DataError);
  options.init_from.clear();
  options.overwrite = false;
  EXPECT_EQ(train(options).state, before.state);
}

TEST(InitialWeightsTest, HowToLoadNeedsAFile) {
  for (const RunOptions& options :
       {RunOptions{.init_partially = true}, RunOptions{.init_remove_prefix = "module."},
        RunOptions{.init_add_prefix = "backbone."}}) {
    EXPECT_THROW(init_options(options), UsageError);
    EXPECT_THROW(pagoda::Run(options, [] { return Mlp(); }), UsageError);
  }
  EXPECT_TRUE(init_options({}).strict);
}

TEST(InitialWeightsTest, OfManyNamesTheLogHasTheFirst) {
  const LoadResult loaded{.missing = {"a", "b", "c", "d", "e", "f", "g"}, .unexpected = {}};
  EXPECT_EQ(initial_weights_text("w.pt", loaded),
            "it begins with the weights of w.pt; not in it, so with initial values: a, b, c, d, e "
            "and 2 more");
  EXPECT_EQ(initial_weights_text("w.pt", {}), "it begins with the weights of w.pt");
}

}  // namespace initial_weights_test
}  // namespace pagoda
