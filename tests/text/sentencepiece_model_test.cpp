#include "text/sentencepiece_model.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace sentencepiece_model_test {

using testing::ScratchDirectory;

TEST(SentencePieceModelTest, AFileThatIsNoneIsNamed) {
  const ScratchDirectory directory;
  testing::write_file(directory / "m", "not a model");
  sentencepiece::SentencePieceProcessor processor;
  try {
    load_sentencepiece(processor, directory / "m");
    FAIL() << "a file that is no model was read";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find((directory / "m").string()), std::string::npos);
  }
  EXPECT_THROW(load_sentencepiece(processor, directory / "missing"), IoError);
}

}  // namespace sentencepiece_model_test
}  // namespace pagoda
