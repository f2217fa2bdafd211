#include <pagoda/base/error.h>
#include <pagoda/base/temporary_directory.h>
#include <pagoda/train/run_metrics.h>

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

namespace pagoda {
namespace run_metrics_test {

TEST(RunMetricsTest, LinesAreReadAsTheyWereWritten) {
  for (const double value : {0.0, -1.5, 1.0 / 3, 1e-30, 123456789.0, std::exp(1.0)}) {
    const RunMetric metric{.step = 7, .name = "train/loss", .value = value};
    const auto read = parse_metrics(metric.line() + "\n");
    ASSERT_EQ(read.size(), 1);
    EXPECT_EQ(read[0].step, 7);
    EXPECT_EQ(read[0].name, "train/loss");
    EXPECT_NEAR(read[0].value, value, 1e-8 * std::abs(value));
    EXPECT_EQ(read[0].line(), metric.line()) << "reading and writing again changes nothing";
  }
}

TEST(RunMetricsTest, HeadingAndBrokenLinesArePassedOver) {
  const auto read = parse_metrics("step\tname\tvalue\n1\ta\t2\n2\ta\n\n3\ta\tx\n4\ta b\t-1\n" +
                                  std::string(5, '\0') + "\n5\ta\t3");
  ASSERT_EQ(read.size(), 2) << "the last line has no end";
  EXPECT_EQ(read[0].value, 2);
  EXPECT_EQ(read[1].name, "a b");
}

TEST(RunMetricsTest, ARunWithoutTheFileHasNone) {
  const TemporaryDirectory run("metrics-test");
  EXPECT_TRUE(read_run_metrics(run.path()).empty());
  std::ofstream(run.path() / "metrics.tsv") << "step\tname\tvalue\n1\tx\t2\n";
  EXPECT_EQ(read_run_metrics(run.path()).size(), 1);
}

TEST(RunMetricsTest, AFileThatCannotBeFoundOutAboutIsNotAnEmptyOne) {
  const TemporaryDirectory run("metrics-test");
  std::filesystem::create_symlink("metrics.tsv", run.path() / "metrics.tsv");  // leads in a circle
  EXPECT_THROW(read_run_metrics(run.path()), IoError);
}

}  // namespace run_metrics_test
}  // namespace pagoda
