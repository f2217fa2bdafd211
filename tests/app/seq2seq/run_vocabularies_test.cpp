#include "seq2seq/run_vocabularies.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda::app {
namespace run_vocabularies_test {

using testing::ScratchDirectory;
using testing::write_file;

class RunVocabulariesTest : public ::testing::Test {
 protected:
  RunVocabulariesTest() {
    std::filesystem::create_directory(directory);
    write_file(directory / "source.txt", "<pad>\n<unk>\n<s>\n</s>\na\nb\n");
    write_file(directory / "target.txt", "<pad>\n<unk>\n<s>\n</s>\nx\ny\n");
    flags.tokenizer = "words";
  }

  std::string refusal(const std::optional<DataRecord>& record) const {
    try {
      check_vocabularies(run.path(), record, vocabulary_inputs(flags, directory));
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  const ScratchDirectory run;
  const std::filesystem::path directory = vocabulary_directory(run.path());
  TextFlags flags;
};

TEST_F(RunVocabulariesTest, LinesInAnotherOrderAreRefusedWithTheDifference) {
  const DataRecord record{.inputs = vocabulary_inputs(flags, directory)};
  EXPECT_EQ(refusal(record), "");
  write_file(directory / "target.txt", "<pad>\n<unk>\n<s>\n</s>\ny\nx\n");
  EXPECT_NO_THROW(load_codecs(flags, directory)) << "it is a vocabulary all the same";
  const std::string message = refusal(record);
  EXPECT_TRUE(message.starts_with(directory.string() + " has changed since the run began"));
  EXPECT_NE(message.find("target.txt (vocabulary): 25 bytes, CRC-32 "), std::string::npos)
      << message;
  EXPECT_EQ(message.find("source.txt"), std::string::npos);
}

TEST_F(RunVocabulariesTest, ARunWithoutARecordTakesWhatIsThere) {
  EXPECT_EQ(refusal(std::nullopt), "");
}

TEST_F(RunVocabulariesTest, AMissingVocabularyIsNamed) {
  std::filesystem::remove(directory / "source.txt");
  EXPECT_THROW(vocabulary_inputs(flags, directory), IoError);
}

}  // namespace run_vocabularies_test
}  // namespace pagoda::app
