#include <pagoda/base/error.h>
#include <pagoda/text/line_reader.h>

#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/text_files.h"

namespace pagoda {
namespace line_reader_test {

using testing::ScratchDirectory;
using testing::write_file;
using testing::write_gzip;
using Texts = std::vector<std::string>;

Texts texts_of(const std::filesystem::path& path, const LineReaderOptions& options = {}) {
  LineReader reader(path, options);
  Texts texts;
  while (const auto line = reader.next()) {
    texts.push_back(line->problem.empty() ? std::string(line->text) : "!" + line->problem);
    EXPECT_EQ(line->number, static_cast<std::int64_t>(texts.size()));
  }
  EXPECT_FALSE(reader.next());
  return texts;
}

TEST(LineReaderTest, ReadsPlainAndCompressedLinesAlike) {
  const ScratchDirectory directory;
  std::string long_text;
  Texts expected;
  for (int i = 0; i < 20'000; ++i) {  // more than a buffer
    expected.push_back("line " + std::to_string(i));
    long_text += expected.back() + "\n";
  }
  const std::vector<std::pair<std::string, Texts>> cases = {
      {"", {}},
      {"\n", {""}},
      {"a", {"a"}},
      {"a\nb\n", {"a", "b"}},
      {"a\r\n\r\nb\r", {"a", "", "b"}},
      {"\xEF\xBB\xBFmark\n\xEF\xBB\xBFkept", {"mark", "\xEF\xBB\xBFkept"}},
      {long_text, expected}};
  for (const auto& [bytes, texts] : cases) {
    write_file(directory / "plain", bytes);
    EXPECT_EQ(texts_of(directory / "plain"), texts);
    write_gzip(directory / "packed.gz", bytes);
    EXPECT_EQ(texts_of(directory / "packed.gz"), texts);
  }
}

TEST(LineReaderTest, TellsWhichByteIsNotUtf8AndGoesOn) {
  const ScratchDirectory directory;
  write_file(directory / "f", "good\nf\xFCr\nagain\n");
  EXPECT_EQ(texts_of(directory / "f"),
            (Texts{"good", "!not UTF-8: byte 2 of the line is 0xFC", "again"}));
  LineReader reader(directory / "f");
  reader.next();
  EXPECT_EQ(reader.place_of(*reader.next()),
            (directory / "f").string() + ":2: not UTF-8: byte 2 of the line is 0xFC");
}

TEST(LineReaderTest, NulBytesAreProblems) {
  const ScratchDirectory directory;
  write_file(directory / "f", std::string("good\nb\0d\nagain\n\0", 17));
  const std::string after = " of the line is NUL, which text does not contain";
  EXPECT_EQ(texts_of(directory / "f"),
            (Texts{"good", "!byte 2" + after, "again", "!byte 1" + after}));
}

TEST(LineReaderTest, ReadsPipesAndRefusesDevices) {
  const ScratchDirectory directory;
  EXPECT_EQ(texts_of("/dev/null"), Texts{});
  for (const char* device : {"/dev/zero", "/dev/urandom"})
    EXPECT_THROW(LineReader{device}, IoError) << device;

  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_file(directory / "pipe", "a\nb"); });
  EXPECT_EQ(texts_of(directory / "pipe"), (Texts{"a", "b"}));
  writer.join();
}

TEST(LineReaderTest, SaysWhetherMoreHasCome) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "a\nb\nc", 5), 5);
  LineReader lines("/proc/self/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  EXPECT_TRUE(lines.is_ready());
  EXPECT_EQ(lines.next()->text, "a");
  EXPECT_TRUE(lines.is_ready()) << "b is there";
  EXPECT_EQ(lines.next()->text, "b");
  EXPECT_FALSE(lines.is_ready()) << "of c only the beginning is there";
  ASSERT_EQ(write(ends[1], "d\n", 2), 2);
  EXPECT_TRUE(lines.is_ready());
  EXPECT_EQ(lines.next()->text, "cd");
  EXPECT_FALSE(lines.is_ready());
  close(ends[1]);
  EXPECT_TRUE(lines.is_ready()) << "the end is there";
  EXPECT_FALSE(lines.next());
}

TEST(LineReaderTest, LongLinesAreProblemsFromOneByteTooMany) {
  const ScratchDirectory directory;
  const std::string five(5, 'x');
  const std::string huge(300'000, 'y');
  write_file(directory / "f", five + "\r\n" + five + "x\n" + huge + "\nz");
  const std::string problem = "!more than 5 bytes in a line";
  EXPECT_EQ(texts_of(directory / "f", {.max_bytes = 5}), (Texts{five, problem, problem, "z"}));
}

TEST(LineReaderTest, AnInputWithoutLineEndsIsGivenUp) {
  const ScratchDirectory directory;
  const LineReaderOptions options{.max_bytes = 5, .max_skipped_bytes = 100'000};
  write_file(directory / "f", "a\n" + std::string(100'000, 'x') + "\nb");
  EXPECT_EQ(texts_of(directory / "f", options).size(), 3u);
  write_file(directory / "f", "a\n" + std::string(100'001, 'x') + "\nb");
  try {
    texts_of(directory / "f", options);
    FAIL() << "it was read";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              (directory / "f").string() + ":2: no line end in 97.7 KiB; is it text?");
  }
}

TEST(LineReaderTest, CountsWhatWasGivenAsLinesAndNoMore) {
  const ScratchDirectory directory;
  std::string text =
      "\xEF\xBB\xBF"
      "first\r\nbad \xFF\n";
  for (int i = 0; i < 20'000; ++i)
    text += "line " + std::to_string(i) + "\n";  // more than a buffer
  text += "no end";
  write_file(directory / "plain", text);
  write_gzip(directory / "compressed", text);
  for (const char* name : {"plain", "compressed"}) {
    LineReader reader(directory / name);
    EXPECT_EQ(reader.input().bytes, 0);
    std::size_t end = 0;  // of the lines so far
    while (reader.next()) {
      end = text.find('\n', end) == std::string::npos ? text.size() : text.find('\n', end) + 1;
      if (end % 97 != 0 && end != text.size()) continue;
      DataInput expected;
      add_content(expected, std::string_view(text).substr(0, end));
      EXPECT_EQ(reader.input().bytes, expected.bytes);
      EXPECT_EQ(reader.input().crc32, expected.crc32);
    }
    EXPECT_EQ(reader.input().bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(reader.input().name, (directory / name).string());
  }
}

TEST(LineReaderTest, RefusesMissingCutAndDamagedFiles) {
  const ScratchDirectory directory;
  EXPECT_THROW(LineReader(directory / "none"), IoError);

  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * 7919 % 1000) + "\n";
  write_gzip(directory / "f.gz", text);
  const std::string bytes = testing::read_file(directory / "f.gz");
  write_file(directory / "cut.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_THROW(texts_of(directory / "cut.gz"), DataError);
  std::string damaged = bytes;
  damaged[bytes.size() - 6] ^= 1;  // in the checksum
  write_file(directory / "damaged.gz", damaged);
  EXPECT_THROW(texts_of(directory / "damaged.gz"), DataError);
}

}  // namespace line_reader_test
}  // namespace pagoda
