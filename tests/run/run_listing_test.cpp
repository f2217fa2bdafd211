#include <pagoda/base/error.h>
#include <pagoda/run/run_listing.h>
#include <pagoda/train/run_directory.h>

#include <gtest/gtest.h>

#include "run/run_log_lines.h"
#include "support/scratch_directory.h"

namespace pagoda {
namespace run_listing_test {

using testing::ScratchDirectory;

/// A directory of a run that has logged so many steps and then this line.
void make_run(const std::filesystem::path& path, std::int64_t steps, const std::string& last) {
  RunDirectory run(path, Existing::resume, "model = \"net\"\nseed = 1\n");
  run.begin_at(0);
  for (std::int64_t step = 1; step <= steps; ++step) run.metric(step, "train/loss", 1.0);
  run.log("2026-01-31 12:34:56 " + last);
  run.flush();
}

TEST(RunListingTest, ARunHasModelStepBestAndStage) {
  const ScratchDirectory scratch;
  const auto path = scratch / "a";
  make_run(path, 7, validation_line(6, {.loss = 0.5}, /*is_best=*/true));
  const RunListing killed = list_run(path);
  EXPECT_EQ(killed.model, "net");
  EXPECT_EQ(killed.step, 7);
  EXPECT_EQ(killed.best, "loss 0.5000");
  EXPECT_EQ(killed.best_step, 6);
  EXPECT_EQ(killed.stage, RunStage::stopped) << "nobody wrote how it ended";
}

TEST(RunListingTest, TheStageIsThatOfTheLastEnd) {
  const ScratchDirectory scratch;
  make_run(scratch / "done", 3, end_line("finished", 3));
  make_run(scratch / "early", 3, end_line("stopped early", 3));
  make_run(scratch / "asked", 3, end_line("stopped", 3) + "; resume it");
  make_run(scratch / "late", 3, end_line("out of time", 3));
  make_run(scratch / "lengthened", 5, end_line("finished", 3));
  EXPECT_EQ(list_run(scratch / "done").stage, RunStage::finished);
  EXPECT_EQ(list_run(scratch / "early").stage, RunStage::finished);
  EXPECT_EQ(list_run(scratch / "asked").stage, RunStage::stopped);
  EXPECT_EQ(list_run(scratch / "late").stage, RunStage::stopped);
  EXPECT_EQ(list_run(scratch / "lengthened").stage, RunStage::stopped) << "killed after step 5";
  const RunDirectory held(scratch / "done", Existing::resume, "model = \"net\"\nseed = 1\n");
  EXPECT_EQ(list_run(scratch / "done").stage, RunStage::running);
}

TEST(RunListingTest, RunsAreFoundAtAnyDepthButNotInEachOther) {
  const ScratchDirectory scratch;
  make_run(scratch / "b/c/d", 1, "");
  make_run(scratch / "a", 1, "");
  make_run(scratch / "a/inner", 1, "");
  std::filesystem::create_directories(scratch / "empty");
  std::filesystem::create_directories(scratch / "unreadable");
  std::filesystem::create_symlink("config.toml", scratch / "unreadable/config.toml");
  EXPECT_EQ(find_runs(scratch.path()),
            (std::vector<std::filesystem::path>{scratch / "a", scratch / "b/c/d"}));
  EXPECT_EQ(find_runs(scratch / "a"), std::vector<std::filesystem::path>{scratch / "a"});
  EXPECT_TRUE(find_runs(scratch / "empty").empty());
  EXPECT_THROW(find_runs(scratch / "nowhere"), UsageError);
}

}  // namespace run_listing_test
}  // namespace pagoda
