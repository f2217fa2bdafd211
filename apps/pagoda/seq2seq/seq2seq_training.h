#pragma once

#include "model/model_training.h"
#include "seq2seq/seq2seq_flags.h"

namespace pagoda::app {

/// The seq2seq model on sentence pairs: trained by a Run, tested by perplexity and translations. The
/// vocabularies are learned from the training text and kept with the run.
class Seq2SeqTraining : public ModelTraining {
 public:
  /// Those for text, where they are not those for images.
  RunOptions defaults() const override;
  std::span<const Preset> presets() const override;
  void add_flags(CLI::App& command) override;
  RunSummary train(const RunOptions& options) override;
  void add_test_flags(CLI::App& command) override;
  TestReport test(const StoredRun& run, const std::vector<Device>& devices, World* world) override;

  const Seq2SeqFlags& flags() const { return flags_; }

 private:
  Seq2SeqFlags flags_;
  TestTextFlags test_flags_;
};

}  // namespace pagoda::app
