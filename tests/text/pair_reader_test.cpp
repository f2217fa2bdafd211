#include <pagoda/base/error.h>
#include <pagoda/text/pair_reader.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/shared_data.h"
#include "support/text_files.h"

namespace pagoda {
namespace pair_reader_test {

using testing::ScratchDirectory;
using testing::write_file;
using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(PairReader& reader) {
  Pairs pairs;
  while (const auto pair = reader.next()) pairs.emplace_back(pair->source, pair->target);
  return pairs;
}

std::string error_of(const PairFiles& files) {
  try {
    pairs_of(*open_pairs(files));
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class PairReaderTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, std::string_view text) {
    write_file(directory_ / name, text);
    return directory_ / name;
  }

  ScratchDirectory directory_;
};

TEST_F(PairReaderTest, AlignedFilesLeaveOutPairsWithAnEmptySide) {
  const PairFiles files{.source = {file("s", "a\r\n\nc\nd\n")},
                        .target = {file("t", "A\nB\n \nD")}};
  const auto reader = open_pairs(files);
  EXPECT_EQ(pairs_of(*reader), (Pairs{{"a", "A"}, {"d", "D"}}));
  EXPECT_EQ(reader->report().pairs, 2);
  EXPECT_EQ(reader->report().empty, 2);
  EXPECT_EQ(reader->report().text(), "2 pairs; left out: 2 with an empty side, 0 with a bad line");
}

TEST_F(PairReaderTest, BadLinesNameTheirPlaceOrAreLeftOutOnBothSides) {
  const PairFiles files{.source = {file("s", "a\nb\nc\n")}, .target = {file("t", "A\n\xFF\nC\n")}};
  EXPECT_TRUE(has(error_of(files), (directory_ / "t").string() + ":2: not UTF-8"));
  const auto reader = open_pairs(files, {.on_bad_line = OnBadLine::skip});
  EXPECT_EQ(pairs_of(*reader), (Pairs{{"a", "A"}, {"c", "C"}}));
  EXPECT_EQ(reader->report().bad, 1);
  EXPECT_TRUE(has(reader->report().text(), ":2: not UTF-8"));
}

TEST_F(PairReaderTest, FilesOfDifferentLengthAreToldEitherWay) {
  for (const bool swapped : {false, true}) {
    PairFiles files{.source = {file("long", "a\nb\nc\n")}, .target = {file("short", "A\nB\n")}};
    if (swapped) std::swap(files.source, files.target);
    const std::string expected = (directory_ / "short").string() + " ends after line 2";
    EXPECT_TRUE(has(error_of(files), expected));
    const auto reader = open_pairs(files, {.on_bad_line = OnBadLine::skip});
    EXPECT_EQ(pairs_of(*reader).size(), 2u);
    EXPECT_TRUE(has(reader->report().text(), expected));
  }
}

TEST_F(PairReaderTest, TabbedLinesMayHaveMoreColumns) {
  const PairFiles files{.pairs = {file("p", "a b\tA B\nc\tC\tfrom somewhere\n\n\tx\n")}};
  const auto reader = open_pairs(files);
  EXPECT_EQ(pairs_of(*reader), (Pairs{{"a b", "A B"}, {"c", "C"}}));
  EXPECT_EQ(reader->report().empty, 2);
  EXPECT_TRUE(has(error_of({.pairs = {file("q", "a\tA\nb B\n")}}), ":2: no tab"));
}

TEST_F(PairReaderTest, EachUtteranceAnswersTheOneBefore) {
  const auto path = file("c.conv", "E\nM 你好\nM 你好！\nM 再见\nE\nM alone\nE\nM a\nM b\n");
  const auto reader = open_pairs({.conv = {path}});
  EXPECT_EQ(pairs_of(*reader), (Pairs{{"你好", "你好！"}, {"你好！", "再见"}, {"a", "b"}}));

  const auto bad = file("bad.conv", "M a\nM b\nX c\nM d\nM e\n");
  EXPECT_TRUE(has(error_of({.conv = {bad}}), ":3: neither"));
  const auto skipping = open_pairs({.conv = {bad}}, {.on_bad_line = OnBadLine::skip});
  EXPECT_EQ(pairs_of(*skipping), (Pairs{{"a", "b"}, {"d", "e"}}));
}

TEST_F(PairReaderTest, SeveralFilesFollowEachOther) {
  const PairFiles files{.source = {file("s", "a\n")},
                        .target = {file("t", "A\n")},
                        .pairs = {file("p", "b\tB\n"), file("q", "c\tC\n")},
                        .conv = {file("v", "M d\nM D\n")}};
  const auto reader = open_pairs(files);
  EXPECT_EQ(pairs_of(*reader), (Pairs{{"a", "A"}, {"b", "B"}, {"c", "C"}, {"d", "D"}}));
}

TEST_F(PairReaderTest, TellsWhatWasReadOfEachFile) {
  const PairFiles files{.source = {file("s", "a\nx\n")},
                        .target = {file("t", "A\n\n")},
                        .pairs = {file("p", "b\tB\nc\tC\n")},
                        .conv = {file("v", "M d\nM D\n")}};
  const auto reader = open_pairs(files);
  const auto read = [&] {
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const DataInput& input : reader->inputs()) found.emplace_back(input.role, input.bytes);
    return found;
  };
  using Read = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(read(), Read());
  reader->next();
  EXPECT_EQ(read(), (Read{{"source", 2}, {"target", 2}}));
  reader->next();
  EXPECT_EQ(read(), (Read{{"source", 4}, {"target", 3}, {"pairs", 4}}));
  pairs_of(*reader);
  EXPECT_EQ(read(), (Read{{"source", 4}, {"target", 3}, {"pairs", 8}, {"conv", 8}}));
  EXPECT_EQ(reader->inputs()[3].name, (directory_ / "v").string());
}

TEST_F(PairReaderTest, RefusesNoFilesAndSourcesWithoutTargets) {
  EXPECT_THROW(open_pairs({}), UsageError);
  EXPECT_THROW(open_pairs({.source = {"a", "b"}, .target = {"c"}}), UsageError);
}

TEST_F(PairReaderTest, ReadsTheRealTexts) {
  const auto data = testing::shared_data();
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no " << data;
  const auto folder = data / "multi30k";
  const auto aligned =
      open_pairs({.source = {folder / "train.en.gz"}, .target = {folder / "train.fr.gz"}});
  EXPECT_EQ(pairs_of(*aligned).size(), 29'000u);
  const auto chat =
      open_pairs({.conv = {data / "chat-zh" / "haosys.conv.gz"}}, {.on_bad_line = OnBadLine::skip});
  EXPECT_GT(pairs_of(*chat).size(), 20'000u);
}

}  // namespace pair_reader_test
}  // namespace pagoda
