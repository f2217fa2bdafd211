#include "run/run_output.h"

#include <pagoda/base/error.h>
#include <pagoda/base/json.h>
#include <pagoda/base/time_text.h>
#include <pagoda/terminal/text_table.h>

#include <cmath>
#include <cstdio>

#include "run/run_log_lines.h"

namespace pagoda {
namespace {

constexpr const char* kValidationLoss = "validation/loss";

std::string text(const char* format, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// One entry a tower; a tower without samples has none.
std::string list_of(const char* format, const std::vector<double>& values) {
  std::string list;
  for (const double value : values) list += std::isnan(value) ? " -" : " " + text(format, value);
  return list;
}

/// The epoch that a step belongs to, from 1.
std::int64_t epoch_of(const DataPosition& after) { return after.epoch + (after.consumed > 0); }

std::string text_line(const RunState& state, const StepResult& result, double rate,
                      const Console& console, const std::string& unit) {
  std::string line = "epoch " + std::to_string(epoch_of(state.position)) + ", step " +
                     std::to_string(state.step) + "/" + std::to_string(console.total()) +
                     ": loss " + text("%.4f", result.loss);
  for (const auto& [name, value] : result.metrics) line += ", " + name + " " + text("%.3f", value);
  line += ", learning rate " + text("%.3g", result.learning_rate);
  if (result.grad_norm) line += ", gradient norm " + text("%.3g", *result.grad_norm);
  if (result.loss_scale) line += ", loss scale " + text("%g", *result.loss_scale);
  line += ", " + grouped(rate) + " " + unit + "/s, " + console.time_left() + " left, tower losses";
  line += list_of("%.4f", result.tower_losses);
  if (!result.staleness.empty()) line += ", staleness" + list_of("%.1f", result.staleness);
  if (state.loss_scale.overflows > 0)
    line += ", " + std::to_string(state.loss_scale.overflows) + " left out for overflows so far";
  if (result.overflows > 0) return line + " (skipped: the gradient overflowed)";
  return result.skipped ? line + " (skipped: not finite)" : line;
}

std::string json_line(const RunState& state, const StepResult& result, double rate,
                      const std::string& unit) {
  JsonWriter json;
  json.begin_object().key("time").value(utc_time_text()).key("step").value(state.step);
  json.key("epoch").value(epoch_of(state.position)).key("loss").value(result.loss);
  for (const auto& [name, value] : result.metrics) json.key(name).value(value);
  json.key("learning_rate").value(result.learning_rate);
  if (result.grad_norm) json.key("grad_norm").value(*result.grad_norm);
  if (result.loss_scale) {
    json.key("loss_scale").value(*result.loss_scale);
    json.key("overflows").value(state.loss_scale.overflows);
  }
  json.key(unit + "_per_second").value(rate).key("tower_losses").values(result.tower_losses);
  if (!result.staleness.empty()) json.key("staleness").values(result.staleness);
  json.key("skipped").value(result.skipped).end_object();
  return json.text();
}

std::string validation_json(std::int64_t step, const Evaluation& evaluation) {
  JsonWriter json;
  json.begin_object().key("time").value(utc_time_text());
  json.key("step").value(step).key("validation_loss").value(evaluation.loss);
  for (const auto& [name, value] : evaluation.metrics) json.key("validation_" + name).value(value);
  json.end_object();
  return json.text();
}

}  // namespace

RunOutput::RunOutput(Console& console, const RunOutputOptions& options)
    : console_(console), unit_(options.unit), hint_(options.hint) {
  if (options.directory.empty()) return;
  directory_ = std::make_unique<RunDirectory>(options.directory, options.existing, options.config,
                                              options.config_rules);
  checkpoints_ = std::make_unique<CheckpointStore>(
      directory_->checkpoints(),
      CheckpointStoreOptions{.keep_last = options.keep_last,
                             .before_write = [this] { directory_->sync(); }});
  events_ = std::make_unique<EventWriter>(directory_->events());
}

void RunOutput::say(const std::string& line) {
  if (console_.format() == LogFormat::text) console_.line(line);
  note(line);
}

void RunOutput::note(const std::string& line) {
  if (directory_) directory_->log(local_time_text() + " " + line);
}

void RunOutput::check_data(const DataRecord& data) const {
  try {
    if (directory_) directory_->check_data(data);
  } catch (const DataError& error) {
    throw DataError(std::string(error.what()) + hint_);
  }
}

void RunOutput::keep_data(const DataRecord& data, std::int64_t step) {
  const bool is_new = directory_ && directory_->keep_data(data);
  if (is_new && step > 0)
    say("the run had no record of its data: " + data_record_file(directory_->path()).string() +
        " holds it from now on");
}

std::optional<Checkpoint> RunOutput::recover() {
  if (!checkpoints_) return std::nullopt;
  try {
    return checkpoints_->recover([this](const std::string& line) { say(line); });
  } catch (const NewerFormatError&) {
    throw;  // nothing is to be overwritten
  } catch (const DataError& error) {
    throw DataError(std::string(error.what()) + hint_);
  }
}

void RunOutput::save(Checkpoint checkpoint, Keep keep) {
  if (!checkpoints_) return;
  flush();
  checkpoints_->save(std::move(checkpoint), keep);
}

void RunOutput::finish() {
  if (checkpoints_) checkpoints_->wait();
  flush();
}

void RunOutput::begin_at(std::int64_t step) {
  if (!directory_) return;
  directory_->begin_at(step);
  if (step > 0) events_->restart(step + 1);
}

bool RunOutput::has_validation() const {
  return !directory_ || directory_->has_metric(kValidationLoss);
}

void RunOutput::progress(const StepResult& result, double rate) {
  console_.progress(result.step + 1,
                    grouped(rate) + " " + unit_ + "/s, loss " + text("%.4f", result.loss));
}

void RunOutput::step(const RunState& state, const StepResult& result, double rate) {
  if (console_.format() == LogFormat::json) console_.line(json_line(state, result, rate, unit_));
  say(text_line(state, result, rate, console_, unit_));
  const std::int64_t step = state.step;
  number(step, "train/loss", result.loss);
  for (const auto& [name, value] : result.metrics) number(step, "train/" + name, value);
  number(step, "train/learning_rate", result.learning_rate);
  if (result.grad_norm) number(step, "train/grad_norm", *result.grad_norm);
  if (result.loss_scale) {
    number(step, "train/loss_scale", *result.loss_scale);
    number(step, "train/overflows", static_cast<double>(state.loss_scale.overflows));
  }
  number(step, "train/" + unit_ + "_per_second", rate);
  for (std::size_t tower = 0; tower < result.tower_losses.size(); ++tower) {
    number(step, "loss_" + std::to_string(tower), result.tower_losses[tower]);
  }
  for (std::size_t tower = 0; tower < result.staleness.size(); ++tower) {
    number(step, "staleness_" + std::to_string(tower), result.staleness[tower]);
  }
}

void RunOutput::validation(std::int64_t step, const Evaluation& evaluation,
                           const std::vector<std::string>& notes, bool is_best) {
  if (console_.format() == LogFormat::json) console_.line(validation_json(step, evaluation));
  say(validation_line(step, evaluation, is_best));
  for (const auto& note : notes) say("  " + note);
  if (events_ && !notes.empty()) {
    std::string list;
    for (const auto& note : notes) list += "- " + note + "\n";
    events_->text("validation", step, list);
  }
  number(step, kValidationLoss, evaluation.loss);
  for (const auto& [name, value] : evaluation.metrics) number(step, "validation/" + name, value);
}

void RunOutput::memory(std::int64_t step, const std::vector<std::string>& names,
                       const std::vector<MemoryUse>& uses) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = "memory/" + names[i];
    number(step, name, static_cast<double>(uses[i].in_use));
    number(step, name + "_peak", static_cast<double>(uses[i].peak));
  }
}

void RunOutput::histograms(std::int64_t step, const std::vector<NamedTensor>& parameters) {
  if (!events_) return;
  for (const auto& [name, tensor] : parameters) {
    const at::Tensor values = tensor.detach().to(at::kFloat).contiguous();
    events_->histogram("parameters/" + name, step,
                       {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
  }
}

void RunOutput::flush() {
  if (!directory_) return;
  directory_->flush();
  events_->flush();
}

void RunOutput::number(std::int64_t step, const std::string& name, double value) {
  if (!directory_ || std::isnan(value)) return;
  directory_->metric(step, name, value);
  events_->scalar(name, step, value);
}

}  // namespace pagoda
