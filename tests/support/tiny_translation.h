#pragma once

// A tiny translation problem and models for it.

#include <pagoda/models/seq2seq.h>
#include <pagoda/models/transformer.h>
#include <pagoda/text/pair_store.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pagoda::testing {

inline constexpr std::int64_t kTinyVocabulary = 13;

/// Sequences of different length whose tokens are a formula; a target is its source in reverse.
inline PairStore tiny_pairs(std::int64_t count) {
  PairStore pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<TokenId> tokens;
    for (std::int64_t j = 0; j < 1 + i * 7 % 5; ++j) {
      tokens.push_back(static_cast<TokenId>(
          kSpecialTokens + (i * 5 + j * j + j) % (kTinyVocabulary - kSpecialTokens)));
    }
    pairs.sources.add(tokens);
    pairs.targets.add(std::vector<TokenId>(tokens.rbegin(), tokens.rend()));
  }
  return pairs;
}

inline Seq2SeqOptions tiny_options() {
  return {.source_vocabulary = kTinyVocabulary,
          .target_vocabulary = kTinyVocabulary,
          .embedding = 6,
          .hidden = 8,
          .layers = 2,
          .samples = 7};
}

inline TransformerOptions tiny_transformer_options() {
  return {.source_vocabulary = kTinyVocabulary,
          .target_vocabulary = kTinyVocabulary,
          .hidden = 8,
          .layers = 2,
          .heads = 2,
          .ffn = 12,
          .samples = 7};
}

/// A model with what its options may be; two layers of encoder and decoder each.
struct TinyModel {
  std::string name;
  std::size_t layers;  ///< for a pipeline
  std::function<std::shared_ptr<SequenceModel>()> make;
};

/// Changes of these become the options of a model.
template <class Impl, class Options>
TinyModel tiny_model(const std::string& name, std::size_t layers, Options options,
                     const std::function<void(Options&)>& change) {
  change(options);
  return {name, layers, [options] { return std::make_shared<Impl>(options); }};
}

inline std::vector<TinyModel> tiny_models() {
  const auto rnn = [](const char* name, std::size_t layers,
                      const std::function<void(Seq2SeqOptions&)>& change) {
    return tiny_model<Seq2SeqImpl>(std::string("rnn_") + name, layers, tiny_options(), change);
  };
  const auto transformer = [](const char* name, std::size_t layers,
                              const std::function<void(TransformerOptions&)>& change) {
    return tiny_model<TransformerImpl>(std::string("transformer_") + name, layers,
                                       tiny_transformer_options(), change);
  };
  return {
      rnn("plain", 5, [](Seq2SeqOptions&) {}),
      rnn("gru", 5, [](Seq2SeqOptions& o) { o.cell = Cell::gru; }),
      rnn("bidirectional", 5, [](Seq2SeqOptions& o) { o.bidirectional = true; }),
      rnn("bahdanau", 5, [](Seq2SeqOptions& o) { o.attention = AttentionKind::bahdanau; }),
      rnn("input_feeding", 3, [](Seq2SeqOptions& o) { o.input_feeding = true; }),
      rnn("tied_output", 3, [](Seq2SeqOptions& o) { o.tied = TiedEmbeddings::output; }),
      rnn("everything", 1,
          [](Seq2SeqOptions& o) {
            o.cell = Cell::gru;
            o.bidirectional = true;
            o.attention = AttentionKind::bahdanau;
            o.input_feeding = true;
            o.tied = TiedEmbeddings::all;
          }),
      transformer("plain", 5, [](TransformerOptions&) {}),
      transformer("norm_after", 5, [](TransformerOptions& o) { o.norm = NormPlace::after; }),
      transformer("learnt_positions", 5,
                  [](TransformerOptions& o) { o.positions = Positions::learnt; }),
      transformer("one_head", 5, [](TransformerOptions& o) { o.heads = 1; }),
      transformer("odd_size", 5, [](TransformerOptions& o) { o.hidden = 9, o.heads = 3; }),
      transformer("tied_output", 3, [](TransformerOptions& o) { o.tied = TiedEmbeddings::output; }),
      transformer("everything", 1, [](TransformerOptions& o) {
        o.norm = NormPlace::after;
        o.positions = Positions::learnt;
        o.tied = TiedEmbeddings::all;
      })};
}

}  // namespace pagoda::testing
