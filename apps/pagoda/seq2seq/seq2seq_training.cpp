#include "seq2seq/seq2seq_training.h"

#include <pagoda/base/error.h>
#include <pagoda/base/temporary_directory.h>
#include <pagoda/run/run.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/run_directory.h>

#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/seq2seq_presets.h"
#include "seq2seq/seq2seq_report.h"
#include "seq2seq/seq2seq_validation.h"
#include "seq2seq/stored_seq2seq.h"

namespace pagoda::app {
namespace {

SequencePlanOptions plan_options(const RunOptions& options, const TextFlags& text, int towers) {
  if (options.drop_last)
    throw UsageError("--drop-last does not go with sentence pairs, whose feeds are of any size");
  SequencePlanOptions plan{.feeds_per_tower = feeds_per_tower(options),
                           .first_steps = options.overfit_batches,
                           .seed = options.seed,
                           .buckets = text.length_buckets()};
  if (text.batch_tokens) {
    plan.batch_tokens = options.stages.part_of(*text.batch_tokens);
  } else {
    plan.batch_size = feed_size(options, towers);
  }
  return plan;
}

/// Sentence pairs as the feeds of a run.
class PairSource : public FeedSource<SequenceBatch> {
 public:
  PairSource(const PairStore& pairs, TokenChanges changes, const RunOptions& options,
             const TextFlags& text, const TowerShare& towers)
      : pairs_(pairs),
        changes_(std::move(changes)),
        towers_(towers),
        plan_(std::make_shared<const SequencePlan>(pairs, towers.total,
                                                   plan_options(options, text, towers.total))),
        loader_threads_(options.loader_threads),
        about_(text.batch_tokens
                   ? std::to_string(*text.batch_tokens) + " tokens a tower"
                   : std::to_string(plan_->options().batch_size * options.stages.parts()) +
                         " pairs a tower") {}

  std::shared_ptr<FeedStream<SequenceBatch>> stream(const DataPosition& start,
                                                    std::int64_t epochs) override {
    auto stream =
        std::make_shared<SequenceBatches>(pairs_, towers_, plan_,
                                          SequenceBatchesOptions{.epochs = epochs,
                                                                 .start = start,
                                                                 .loader_threads = loader_threads_,
                                                                 .change_source = changes_.source,
                                                                 .change_target = changes_.target});
    epoch_.reset();  // from here on the stream holds what it needs
    return stream;
  }

  std::int64_t steps_from(const DataPosition& position) const override {
    epoch_ = plan_->epoch(position.epoch);
    return plan_->steps_of(epoch_->size() - epoch_->batch_after(position.consumed));
  }

  std::string about() const override { return about_; }
  std::string unit() const override { return "tokens"; }

 private:
  const PairStore& pairs_;
  const TokenChanges changes_;
  const TowerShare towers_;
  const std::shared_ptr<const SequencePlan> plan_;
  const int loader_threads_;
  const std::string about_;
  mutable std::shared_ptr<const SequenceEpoch> epoch_;  // held, so that it is computed once
};

/// Whole models in the host's memory with the values of towers whose parts lie on several cards: to
/// translate with, which goes back and forth between the layers.
class HostModels {
 public:
  HostModels(const NetworkOptions& model, const TowerGroup& source)
      : source_(source),
        towers_(make_towers(select_devices("cpu"), [model] { return make_network(model); })) {}

  /// With the values as they are now.
  Towers<SequenceModelPtr>& renewed() {
    at::NoGradGuard no_grad;
    const auto& from = source_.master().trainable;
    const auto& to = towers_.master().trainable;
    for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
    return towers_;
  }

 private:
  const TowerGroup& source_;
  Towers<SequenceModelPtr> towers_;
};

class Seq2SeqTask : public RunTask {
 public:
  /// `learned` is where new vocabularies are.
  Seq2SeqTask(const Run<SequenceModelPtr>& run, const TextFlags& text, const PreparedText& prepared,
              const NetworkOptions& model, std::filesystem::path learned)
      : run_(run),
        text_(text),
        prepared_(prepared),
        learned_(std::move(learned)),
        is_by_bleu_(text.best_by == "bleu" && !prepared.text.sources.empty()) {
    const auto* staged = run.staged_towers();
    if (staged != nullptr && !staged->stages().share_memory()) host_.emplace(model, *staged);
  }

  std::string name() const override { return "seq2seq"; }
  std::string watched() const override { return is_by_bleu_ ? "bleu" : "perplexity"; }
  Better better() const override { return is_by_bleu_ ? Better::more : Better::less; }
  DataRecord record() const override { return prepared_.record(); }

  std::vector<std::string> about() const override {
    std::vector<std::string> lines = prepared_.text.notes;
    for (const auto& note : {note_about_size(text_, prepared_.codecs), prepared_.remark}) {
      if (!note.empty()) lines.push_back(note);
    }
    return lines;
  }

  void prepare(const std::filesystem::path& directory) override {
    const auto vocabulary = vocabulary_directory(directory);
    if (!std::filesystem::exists(vocabulary)) keep_vocabularies(learned_, vocabulary);
    keep_tokens(prepared_, vocabulary);
  }

  void describe(EventWriter& events) override {
    events.graph(module_graph(run_.towers().module(0)));
  }

  Validation validate() override {
    Towers<SequenceModelPtr>& whole_models = host_ ? host_->renewed() : run_.towers();
    return validate_seq2seq(whole_models, text_, prepared_.codecs, prepared_.text,
                            run_.options().world.get());
  }

 private:
  const Run<SequenceModelPtr>& run_;
  const TextFlags& text_;
  const PreparedText& prepared_;
  const std::filesystem::path learned_;
  const bool is_by_bleu_;
  std::optional<HostModels> host_;
};

}  // namespace

RunOptions Seq2SeqTraining::defaults() const {
  RunOptions options;
  options.optimizer.max_tower_grad_norm = 5;
  return options;
}

std::span<const Preset> Seq2SeqTraining::presets() const { return seq2seq_presets(); }

void Seq2SeqTraining::add_flags(CLI::App& command) {
  add_text_flags(command, flags_.text);
  add_network_flags(command, flags_.network);
}

RunSummary Seq2SeqTraining::train(const RunOptions& options) {
  const TextFlags& text = flags_.text;
  if (flags_.network.tied == "all" && !text.joint_vocabulary) {
    throw UsageError("--tied all takes one vocabulary for both sides; add --joint-vocabulary");
  }
  if (text.subword_sampling && text.tokenizer != "sentencepiece") {
    throw UsageError("--subword-sampling is for --tokenizer sentencepiece, not " + text.tokenizer);
  }
  const TemporaryDirectory learned("vocabulary");  // they are not part of a run yet
  const bool has_kept = !options.out.empty() && !options.overwrite && holds_run(options.out) &&
                        std::filesystem::exists(vocabulary_directory(options.out));
  const PreparedText prepared = has_kept ? load_text(text, options.out, options.log_format)
                                         : learn_text(text, learned.path(), options.log_format);
  const NetworkOptions model = chosen_network(
      flags_.network, {.source_vocabulary = prepared.codecs.source.vocabulary().size(),
                       .target_vocabulary = prepared.codecs.target.vocabulary().size(),
                       .longest_sequence = text.longest_sequence()});
  Run run(options, [model] { return make_network(model); });
  if (flags_.network.row_update == "lazy") run.step_options().rows = RowUpdate::lazy;
  PairSource source(
      prepared.text.train,
      token_changes(text, has_kept ? vocabulary_directory(options.out) : learned.path()), options,
      text, run.share());
  Seq2SeqTask task(run, text, prepared, model, learned.path());
  return run.train(source, LayeredLoss{score_pairs, tensors_of_pairs, score_outputs}, task);
}

void Seq2SeqTraining::add_test_flags(CLI::App& command) {
  add_test_text_flags(command, test_flags_);
}

TestReport Seq2SeqTraining::test(const StoredRun& run, const std::vector<Device>& devices,
                                 World* world) {
  const TextFlags text = test_flags_.over(flags_.text);
  StoredSeq2Seq model = load_seq2seq(run, flags_, devices);
  const EncodedText valid = load_validation_text(text, run.directory, model.codecs);
  return report_of(test_seq2seq(*model.towers, text, model.codecs, valid, world));
}

}  // namespace pagoda::app
