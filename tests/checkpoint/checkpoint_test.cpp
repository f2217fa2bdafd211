#include <pagoda/base/error.h>
#include <pagoda/base/random_streams.h>
#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <string>

#include <gtest/gtest.h>

#include "support/checkpoints.h"
#include "support/scratch_directory.h"

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
  checkpoint.best.reset();
  checkpoint.lowest_loss.reset();
  checkpoint.average.clear();
  write_checkpoint(checkpoint, scratch / "c.pt");
  EXPECT_TRUE(same(read_checkpoint(scratch / "c.pt"), checkpoint));
}

TEST(CheckpointTest, OtherFilesAreRefusedByName) {
  const ScratchDirectory scratch;
  save_state_dict(checkpoint_of(1).model, scratch / "weights.pt");
  EXPECT_THROW(read_checkpoint(scratch / "weights.pt"), DataError);
  write_file(scratch / "text.pt", "not a checkpoint");
  EXPECT_THROW(read_checkpoint(scratch / "text.pt"), DataError);
  EXPECT_THROW(read_checkpoint(scratch / "missing.pt"), IoError);
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
