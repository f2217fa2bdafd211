#include "text/sentencepiece_model.h"

#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

namespace pagoda {

void fail_sentencepiece(const std::string& what, const sentencepiece::util::Status& status) {
  throw DataError(what + " (" + status.message() + ")");
}

void load_sentencepiece(sentencepiece::SentencePieceProcessor& processor,
                        const std::filesystem::path& model) {
  const auto status = processor.LoadFromSerializedProto(read_whole_file(model));
  if (!status.ok()) {
    fail_sentencepiece(model.string() + " is not a SentencePiece model", status);
  }
}

std::vector<int> ordinary_pieces(const sentencepiece::SentencePieceProcessor& processor) {
  std::vector<int> pieces;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    const bool special =
        processor.IsControl(id) || processor.IsUnknown(id) || processor.IdToPiece(id) == "<pad>";
    if (!special) pieces.push_back(id);
  }
  return pieces;
}

}  // namespace pagoda
