#pragma once

#include <pagoda/text/pair_reader.h>
#include <pagoda/text/sequence_plan.h>
#include <pagoda/text/tokenizer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "seq2seq/network.h"

namespace pagoda::app {

/// Where the sentence pairs are and how they become tokens.
struct TextFlags {
  std::optional<std::string> data;  // named, the built-in pairs; they are taken without files too
  std::vector<std::string> source, target, pairs, conv;
  std::vector<std::string> valid_source, valid_target, valid_pairs;
  std::string on_bad_line = "error";
  std::int64_t max_pairs = 0;
  std::int64_t max_length = 50;
  std::string tokenizer = "sentencepiece";
  std::int64_t vocab_size = 8000;
  bool joint_vocabulary = false;
  bool lower_case = false;
  std::optional<double> subword_sampling;
  std::string buckets;
  std::optional<std::int64_t> batch_tokens;
  std::int64_t bleu_pairs = 500;
  std::string best_by = "bleu";

  PairFiles training_files() const;
  PairFiles validation_files() const;
  PairReaderOptions reading() const;
  /// Tokens that a side of a pair may have in training.
  std::int64_t longest_sequence() const;
  /// None unless --buckets is given. Fails: UsageError.
  std::vector<LengthBucket> length_buckets() const;
};
void add_text_flags(CLI::App& command, TextFlags& flags);

/// What the network looks like; the fields of Seq2SeqOptions and TransformerOptions.
struct NetworkFlags {
  std::string architecture = "rnn";
  std::int64_t embedding = 256;
  std::int64_t hidden = 256;
  std::int64_t layers = 1;
  std::int64_t heads = TransformerOptions{}.heads;
  std::int64_t ffn = TransformerOptions{}.ffn;
  std::string norm = "before";
  std::string positions = "sinusoidal";
  double attention_dropout = 0;
  double ffn_dropout = 0;
  std::string cell = "lstm";
  bool bidirectional = false;
  std::string attention = "luong";
  bool input_feeding = false;
  double dropout = 0.3;
  std::string tied = "none";
  std::optional<double> label_smoothing;
  std::string softmax = "full";
  std::int64_t softmax_samples = 512;
  std::string row_update = "exact";
};
void add_network_flags(CLI::App& command, NetworkFlags& flags);

/// What a text decides about a network.
struct TextSizes {
  std::int64_t source_vocabulary;
  std::int64_t target_vocabulary;
  std::int64_t longest_sequence = 0;  // tokens that a side may have in training
};

/// Fails: UsageError for what is the other architecture's.
NetworkOptions chosen_network(const NetworkFlags& flags, const TextSizes& text);

/// The model's own options of `pagoda train seq2seq`.
struct Seq2SeqFlags {
  TextFlags text;
  NetworkFlags network;
};

/// What `pagoda eval` tests a run on, where it is not the run's validation text.
struct TestTextFlags {
  std::vector<std::string> valid_source, valid_target, valid_pairs;
  std::optional<std::string> on_bad_line;
  std::optional<std::int64_t> bleu_pairs;

  /// The flags of a run with these in their place.
  TextFlags over(TextFlags run) const;
};
void add_test_text_flags(CLI::App& command, TestTextFlags& flags);

}  // namespace pagoda::app
