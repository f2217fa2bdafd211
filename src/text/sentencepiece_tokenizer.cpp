#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/text/sentencepiece_training.h>
#include <pagoda/text/text_windows.h>
#include <pagoda/text/tokenizer.h>

#include <bitset>
#include <sentencepiece_trainer.h>
#include <set>

#include "text/line_sample.h"
#include "text/sentencepiece_model.h"

namespace pagoda {
namespace {

using sentencepiece::SentencePieceProcessor;

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const std::filesystem::path& model) {
    load_sentencepiece(processor_, model);
  }

  std::vector<std::string> tokens(std::string_view line) const override {
    std::vector<std::string> pieces;
    const auto status = processor_.Encode({line.data(), line.size()}, &pieces);
    if (!status.ok()) fail_sentencepiece("SentencePiece cannot encode a line", status);
    return pieces;
  }

  std::string text(std::span<const std::string> tokens) const override {
    std::string text;
    const auto status =
        processor_.Decode(std::vector<std::string>(tokens.begin(), tokens.end()), &text);
    if (!status.ok()) fail_sentencepiece("SentencePiece cannot decode", status);
    return text;
  }

 private:
  SentencePieceProcessor processor_;
};

class LineIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

/// How many different characters there are.
std::int64_t characters_of(const std::vector<std::string>& lines) {
  std::set<std::string_view> found;
  std::bitset<128> ascii;  // most of them; a set is slow
  for (const std::string_view line : lines) {
    for (std::size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      end = begin + 1;
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
      if (end == begin + 1 && static_cast<unsigned char>(line[begin]) < 128) {
        ascii.set(static_cast<unsigned char>(line[begin]));
      } else {
        found.insert(line.substr(begin, end - begin));
      }
    }
  }
  return std::ssize(found) + static_cast<std::int64_t>(ascii.count());
}

double coverage(const SentencePieceTraining& options, const std::vector<std::string>& lines) {
  if (options.character_coverage) return *options.character_coverage;
  return 8 * characters_of(lines) <= options.vocab_size ? 1 : 0.9995;
}

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(const std::filesystem::path& model) {
  return std::make_unique<SentencePieceTokenizer>(model);
}

LineEncoder sentencepiece_encoder(const std::filesystem::path& model) {
  const auto processor = std::make_shared<SentencePieceProcessor>();
  load_sentencepiece(*processor, model);
  return [processor](std::string_view line, std::vector<TokenId>& tokens) {
    std::vector<int> ids;
    const auto status = processor->Encode({line.data(), line.size()}, &ids);
    if (!status.ok()) fail_sentencepiece("SentencePiece cannot encode a line", status);
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    if (processor->eos_id() >= 0) tokens.push_back(processor->eos_id());
  };
}

void train_sentencepiece(const std::function<std::optional<std::string_view>()>& next_line,
                         const std::filesystem::path& model, const SentencePieceTraining& options) {
  LineSample sample(options.max_lines);
  while (const auto line = next_line()) sample.add(*line);
  train_sentencepiece(std::move(sample).lines(), model, options);
}

void train_sentencepiece(std::vector<std::string> text, const std::filesystem::path& model,
                         const SentencePieceTraining& options) {
  const double covered = coverage(options, text);
  LineIterator lines(std::move(text));
  if (lines.done()) throw DataError("there is no line to train SentencePiece on");
  std::string bytes;
  // The number of threads decides the order of sums: fixed, so that all machines agree.
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      {{"vocab_size", std::to_string(options.vocab_size)},
       {"hard_vocab_limit", "false"},  // a text that has no more tokens gives fewer
       {"character_coverage", std::to_string(covered)},
       {"pad_id", std::to_string(kPad)},
       {"unk_id", std::to_string(kUnknown)},
       {"bos_id", std::to_string(kBegin)},
       {"eos_id", std::to_string(kEnd)},
       {"num_threads", "4"},
       {"minloglevel", "3"}},
      &lines, &bytes);
  if (!status.ok()) {
    fail_sentencepiece("SentencePiece cannot learn " + std::to_string(options.vocab_size) +
                           " tokens from this text; take another vocab size or more text",
                       status);
  }
  AtomicFile file(model);
  file.write(bytes);
  file.commit();
}

Vocabulary sentencepiece_vocabulary(const std::filesystem::path& model) {
  SentencePieceProcessor processor;
  load_sentencepiece(processor, model);
  std::vector<std::string> tokens;
  for (const int id : ordinary_pieces(processor)) tokens.push_back(processor.IdToPiece(id));
  return Vocabulary(tokens);
}

}  // namespace pagoda
