#pragma once

#include <pagoda/models/seq2seq.h>

#include <string>

#include <CLI/CLI.hpp>

#include "bench/bench.h"

namespace pagoda::app {

/// The model, which has embeddings of the hidden size, and its sequences.
struct Seq2SeqBenchFlags {
  std::int64_t vocab_size = 20'000;
  std::int64_t hidden = 256;
  std::int64_t layers = 2;
  std::string softmax = "full";
  std::int64_t softmax_samples = 512;
  std::string row_update = "exact";
  std::int64_t length = 20;
};
void add_seq2seq_bench_flags(CLI::App& command, Seq2SeqBenchFlags& flags);

Seq2SeqOptions seq2seq_bench_model(const Seq2SeqBenchFlags& flags);

/// The seq2seq model on random sequences of one length, each tower's gradient clipped to 5.
std::unique_ptr<Bench> make_seq2seq_bench(const std::vector<Device>& devices,
                                          const BenchOptions& options,
                                          const Seq2SeqBenchFlags& flags);

}  // namespace pagoda::app
