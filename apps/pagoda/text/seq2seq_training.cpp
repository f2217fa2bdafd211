#include "text/seq2seq_training.h"

#include <pagoda/base/error.h>
#include <pagoda/base/temporary_directory.h>
#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/module_graph.h>
#include <pagoda/train/run_directory.h>

#include "flags/config_file.h"
#include "text/seq2seq_loss.h"
#include "text/seq2seq_validation.h"

namespace pagoda::app {
namespace {

SequencePlanOptions plan_options(const TrainFlags& flags, const TextFlags& text, int towers) {
  SequencePlanOptions plan{.feeds_per_tower = flags.feeds_per_tower(),
                           .seed = flags.seed,
                           .buckets = text.length_buckets()};
  if (text.batch_tokens) {
    plan.batch_tokens = flags.pipeline.part_of(*text.batch_tokens);
  } else {
    plan.batch_size = flags.feed_size(towers);
  }
  return plan;
}

/// Whole models in the host's memory with the values of towers whose parts lie on several cards: to
/// translate with, which goes back and forth between the layers.
class HostModels {
 public:
  HostModels(const Seq2SeqOptions& model, const TowerGroup& source)
      : source_(source),
        towers_(make_towers(select_devices("cpu"), [model] { return Seq2Seq(model); })) {}

  /// With the values as they are now.
  Towers<Seq2Seq>& renewed() {
    at::NoGradGuard no_grad;
    const auto& from = source_.master().trainable;
    const auto& to = towers_.master().trainable;
    for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
    return towers_;
  }

 private:
  const TowerGroup& source_;
  Towers<Seq2Seq> towers_;
};

/// What is the same whether a tower is one device or a pipeline.
struct Seq2SeqRun {
  const TrainFlags& flags;
  const std::string& config;
  const TextFlags& text;
  const PreparedText& prepared;
  const std::vector<std::string>& about_text;
  const std::filesystem::path& learned;  ///< where new vocabularies are
  const std::shared_ptr<const SequencePlan>& order;
  /// Held until the stream has it, so that it is computed once.
  std::shared_ptr<const SequenceEpoch>& first_epoch;
  const SequencePlanOptions& plan;

  /// `run_step(feeds)` takes a step; `whole_models()` gives towers that can translate.
  template <class TowersOrStages, class RunStep, class WholeModels>
  TrainingSummary train_on(TowersOrStages& group, Step& step, RunStep run_step,
                           WholeModels whole_models) const {
    const bool by_bleu = text.best_by == "bleu" && !prepared.text.sources.empty();
    return train(
        flags, config,
        {.model = "seq2seq",
         .unit = "tokens",
         .about = about_text,
         .towers = group,
         .step = step,
         .stages = stages_of(group),
         .data = [&](const DataPosition& start,
                     std::int64_t epochs) { return data(start, epochs, run_step); },
         .test =
             [&] {
               const AveragedParameters averaged(group, step);
               return validate_seq2seq(whole_models(), text, prepared.codecs, prepared.text);
             },
         .watched = by_bleu ? "bleu" : "perplexity",
         .better = by_bleu ? Better::more : Better::less,
         .prepare =
             [&](const std::filesystem::path& directory) {
               if (!std::filesystem::exists(vocabulary_directory(directory)))
                 keep_vocabularies(learned, vocabulary_directory(directory));
               keep_tokens(prepared, vocabulary_directory(directory));
             },
         .describe = [&](EventWriter& events) { events.graph(module_graph(group.module(0))); }});
  }

  template <class RunStep>
  TrainingData data(const DataPosition& start, std::int64_t epochs, RunStep run_step) const {
    auto stream = std::make_shared<SequenceBatches>(
        prepared.text.train, order,
        SequenceBatchesOptions{
            .epochs = epochs, .start = start, .loader_threads = flags.loader_threads});
    const auto epoch = order->epoch(start.epoch);
    first_epoch.reset();
    TrainingData data = training_data<SequenceBatch>(stream, run_step);
    data.steps_per_epoch = order->steps_of(epoch->size());
    data.steps_left = order->steps_of(epoch->size() - epoch->batch_after(start.consumed));
    data.step_text = text.batch_tokens ? std::to_string(*text.batch_tokens) + " tokens a tower"
                                       : std::to_string(plan.batch_size * flags.pipeline.parts()) +
                                             " pairs a tower";
    return data;
  }
};

}  // namespace

Seq2SeqCommand::Seq2SeqCommand() {
  train.optimizer.schedule = "constant";
  train.optimizer.l2 = 0;
  train.optimizer.average_decay = 0;
  train.optimizer.max_tower_grad_norm = 5;
}

void add_seq2seq_command_flags(CLI::App& command, Seq2SeqCommand& flags) {
  add_text_flags(command, flags.text);
  add_network_flags(command, flags.network);
  add_train_flags(command, flags.train);
}

Seq2SeqCommand options_of_run(const std::string& config) {
  Seq2SeqCommand flags;
  CLI::App command("options of a run", "seq2seq");
  add_seq2seq_command_flags(command, flags);
  apply_config(command, without_entry(config, "model"), "the configuration of the run");
  return flags;
}

std::filesystem::path vocabulary_directory(const std::filesystem::path& run) {
  return run / "vocabulary";
}

TrainingSummary train_seq2seq(const TrainFlags& flags, const TextFlags& text,
                              const NetworkFlags& network, const std::string& config) {
  if (network.tied == "all" && !text.joint_vocabulary) {
    throw UsageError("--tied all takes one vocabulary for both sides; add --joint-vocabulary");
  }
  const ChosenDevices devices(flags.devices);
  const int count = tower_count(flags.pipeline, devices.list().size());
  const SequencePlanOptions plan = plan_options(flags, text, count);

  const TemporaryDirectory learned("vocabulary");
  const auto kept = vocabulary_directory(flags.out);
  const bool has_kept = !flags.out.empty() && !flags.overwrite && has_run(flags.out) &&
                        std::filesystem::exists(kept);
  const auto format = console_format(flags);
  const PreparedText prepared =
      has_kept ? load_text(text, kept, format) : learn_text(text, learned.path(), format);
  const Codecs& codecs = prepared.codecs;
  const EncodedText& task = prepared.text;
  std::vector<std::string> about_text = task.notes;
  if (!prepared.remark.empty()) about_text.push_back(prepared.remark);

  const Seq2SeqOptions model =
      chosen_network(network, codecs.source.vocabulary().size(), codecs.target.vocabulary().size());
  const auto make_model = [model] { return Seq2Seq(model); };
  const auto order = std::make_shared<const SequencePlan>(task.train, count, plan);
  auto first_epoch = order->epoch(0);
  const OptimizerOptions optimizer =
      chosen_optimizer(flags.optimizer, flags.run_steps(order->steps_of(first_epoch->size())));
  StepOptions options = step_options(flags);
  options.rows = network.row_update == "lazy" ? RowUpdate::lazy : RowUpdate::exact;

  const Seq2SeqRun run{.flags = flags,
                       .config = config,
                       .text = text,
                       .prepared = prepared,
                       .about_text = about_text,
                       .learned = learned.path(),
                       .order = order,
                       .first_epoch = first_epoch,
                       .plan = plan};
  if (flags.pipeline.stages == 1) {
    auto towers = make_towers(devices.list(), make_model, flags.tower_options());
    const auto step = make_step(towers, optimizer, options, flags);
    return run.train_on(
        towers, *step,
        [&](const StepFeeds<SequenceBatch>& feeds) { return step->run(feeds, score_pairs); },
        [&]() -> Towers<Seq2Seq>& { return towers; });
  }
  auto towers = make_staged_towers(devices.list(), make_model, stage_options(flags.pipeline),
                                   flags.tower_options());
  PipelineStep step(towers, optimizer, options, pipeline_options(flags.pipeline));
  const auto run_step = [&](const StepFeeds<SequenceBatch>& feeds) {
    return step.run(feeds, tensors_of_pairs, score_outputs);
  };
  if (towers.stages().share_memory())
    return run.train_on(towers, step, run_step, [&]() -> Towers<Seq2Seq>& { return towers; });
  HostModels host(model, towers);
  return run.train_on(towers, step, run_step, [&]() -> Towers<Seq2Seq>& { return host.renewed(); });
}

}  // namespace pagoda::app
