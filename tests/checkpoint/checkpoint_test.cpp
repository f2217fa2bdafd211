#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include "base/random_streams.h"
#include "checkpoint/pickle_file.h"
#include "optim/torch_optimizer_archive.h"
#include "support/checkpoints.h"
#include "support/crafted_archive.h"
#include "support/python_script.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace checkpoint_test {

using testing::checkpoint_of;
using testing::read_file;
using testing::same;
using testing::ScratchDirectory;
using testing::write_file;

TEST(CheckpointTest, ComesBackAsItWas) {
  const ScratchDirectory scratch;
  Checkpoint checkpoint = checkpoint_of(7);
  write_checkpoint(checkpoint, scratch / "c.pt");
  EXPECT_TRUE(same(read_checkpoint(scratch / "c.pt"), checkpoint));
  checkpoint.state.best.reset();
  checkpoint.state.lowest_loss.reset();
  checkpoint.average.clear();
  checkpoint.torch_optimizer.reset();
  write_checkpoint(checkpoint, scratch / "c.pt");
  EXPECT_TRUE(same(read_checkpoint(scratch / "c.pt"), checkpoint));
}

TEST(CheckpointTest, IsFoundInAFileThatMayHoldSomethingElse) {
  const ScratchDirectory scratch;
  const Checkpoint checkpoint = checkpoint_of(7);
  write_checkpoint(checkpoint, scratch / "c.pt");
  const auto found = find_checkpoint(scratch / "c.pt");
  ASSERT_TRUE(found);
  EXPECT_TRUE(same(*found, checkpoint));
  save_state_dict({{"format", torch::ones({2})}}, scratch / "w.pt");
  EXPECT_FALSE(find_checkpoint(scratch / "w.pt"));
  write_pickle(c10::IValue(std::int64_t{3}), scratch / "n.pt");
  EXPECT_FALSE(find_checkpoint(scratch / "n.pt"));
  write_file(scratch / "d.pt", "damaged");
  EXPECT_THROW(find_checkpoint(scratch / "d.pt"), DataError);
}

TEST(CheckpointTest, PythonReadsItAsPlainDataWithATorchOptimizersBytes) {
  const ScratchDirectory scratch;
  Checkpoint checkpoint = checkpoint_of(7);
  const at::Tensor weight = torch::ones({2}, torch::requires_grad());
  torch::optim::Adam optimizer({weight}, torch::optim::AdamOptions(0.125));
  weight.mutable_grad() = torch::full({2}, 4);
  optimizer.step();
  checkpoint.torch_optimizer = archive_of(optimizer, {{"a.weight", weight}});
  write_checkpoint(checkpoint, scratch / "c.pt");
  const auto code = testing::run_with_torch(scratch, R"(
import io, sys, torch
checkpoint = torch.load(sys.argv[1], weights_only=True)
assert checkpoint["step"] == 7
state = torch.jit.load(io.BytesIO(bytes(checkpoint["torch_optimizer"].tolist())))
assert state.optimizer_class == "torch::optim::Adam", state.optimizer_class
assert state.parameter_names == ["0/a.weight"], state.parameter_names

)",
                                            scratch / "c.pt");
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch";
  EXPECT_EQ(*code, 0);
}

TEST(CheckpointTest, AFileWithoutATorchOptimizersEntryHasNone) {
  const ScratchDirectory scratch;
  write_checkpoint(checkpoint_of(7), scratch / "new.pt");
  const std::string bytes = read_file(scratch / "new.pt");
  const auto entries = torch::pickle_load({bytes.begin(), bytes.end()}).toGenericDict();
  ASSERT_EQ(entries.erase("torch_optimizer"), 1u);
  write_pickle(entries, scratch / "old.pt");
  const Checkpoint old = read_checkpoint(scratch / "old.pt");
  EXPECT_FALSE(old.torch_optimizer.defined());
  EXPECT_EQ(old.state.step, 7);
  auto wrong = entries;
  for (const c10::IValue& value : {c10::IValue("text"), c10::IValue(torch::zeros({2})),
                                   c10::IValue(torch::zeros({2, 2}, torch::kByte).t())}) {
    wrong.insert_or_assign("torch_optimizer", value);
    write_pickle(wrong, scratch / "wrong.pt");
    EXPECT_THROW(read_checkpoint(scratch / "wrong.pt"), DataError);
  }
}

TEST(CheckpointTest, OtherFilesAreRefusedByName) {
  const ScratchDirectory scratch;
  save_state_dict(checkpoint_of(1).model, scratch / "weights.pt");
  EXPECT_THROW(read_checkpoint(scratch / "weights.pt"), DataError);
  write_file(scratch / "text.pt", "not a checkpoint");
  EXPECT_THROW(read_checkpoint(scratch / "text.pt"), DataError);
  EXPECT_THROW(read_checkpoint(scratch / "missing.pt"), IoError);
}

TEST(CheckpointTest, ANewerFormatIsAnErrorOfItsOwnWithWhatToDo) {
  const ScratchDirectory scratch;
  testing::write_newer_checkpoint(scratch / "newer.pt");
  const std::string message =
      testing::message_of<NewerFormatError>([&] { read_checkpoint(scratch / "newer.pt"); });
  for (const std::string& part : {(scratch / "newer.pt").string(), std::string("format 2"),
                                  std::string("newer version of Pagoda")})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(CheckpointTest, TheErrorNamesTheEntryThatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"N", "is not a checkpoint, but None"},
      {"}", "it has no 'format'"},
      {testing::pickled_dict("format", testing::pickled_text("1")),
       "'format' is text, not a whole number"},
      {testing::pickled_dict("format", "K\x01" + testing::pickled_text("model") +
                                           testing::pickled_dict("a.weight", "]")),
       "entry 'a.weight' of 'model' is a list, not a tensor"},
      {testing::pickled_dict("format", "K\x01" + testing::pickled_text("model") + "]"),
       "'model' is a list, not a dict of tensors"},
      {testing::pickled_dict("format", std::string("K\0", 2)), "has format 0"}};
  const ScratchDirectory scratch;
  for (const auto& [pickle, expected] : cases) {
    write_file(scratch / "c.pt", testing::saved_archive(pickle));
    const std::string message =
        testing::message_of<DataError>([&] { read_checkpoint(scratch / "c.pt"); });
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

/// 1,000 random damages: none may load as other values, none may crash.
TEST(CheckpointTest, NoDamageLoadsAsOtherValues) {
  const ScratchDirectory scratch;
  const Checkpoint checkpoint = checkpoint_of(7);
  write_checkpoint(checkpoint, scratch / "good.pt");
  const std::string good = read_file(scratch / "good.pt");
  SplitMix64 random(1);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    if (i % 4 == 0) {
      bad.resize(random.below(good.size()));
    } else {
      bad[random.below(bad.size())] ^= static_cast<char>(1 << random.below(8));
    }
    write_file(scratch / "bad.pt", bad);
    try {
      EXPECT_TRUE(same(read_checkpoint(scratch / "bad.pt"), checkpoint)) << "damage " << i;
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find("bad.pt"), std::string::npos) << error.what();
    }
  }
  EXPECT_GE(refused, 250);  // at least every truncation
}

}  // namespace checkpoint_test
}  // namespace pagoda
