#include "lenet5_training.h"

#include <pagoda/base/json.h>
#include <pagoda/train/averaged_parameters.h>

#include <chrono>
#include <cstdio>

#include "text_table.h"

namespace pagoda::app {
namespace {

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double accuracy_of(const StepResult& result) {
  for (const auto& [name, value] : result.metrics) {
    if (name == "accuracy") return value;
  }
  return 0;
}

std::string text_line(const StepResult& result, const TrainingPlan& plan, double rate) {
  std::string line = "step " + std::to_string(result.step + 1) + "/" + std::to_string(plan.steps) +
                     ": loss " + number("%.4f", result.loss) + ", accuracy " +
                     number("%.3f", accuracy_of(result)) + ", learning rate " +
                     number("%.3g", result.learning_rate) + ", " + grouped(rate) +
                     " samples/s, tower losses";
  for (const double loss : result.tower_losses) line += " " + number("%.4f", loss);
  return result.skipped ? line + " (skipped: not finite)" : line;
}

std::string json_line(const StepResult& result, double rate) {
  JsonWriter json;
  json.begin_object().key("step").value(result.step + 1).key("loss").value(result.loss);
  json.key("accuracy").value(accuracy_of(result)).key("learning_rate").value(result.learning_rate);
  json.key("samples_per_second").value(rate).key("tower_losses").values(result.tower_losses);
  json.key("skipped").value(result.skipped).end_object();
  return json.text();
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

TrainingSummary train_lenet5(SyncStep<LeNet5>& step, Batches& data, const TrainingPlan& plan,
                             Console& console) {
  TrainingSummary summary;
  const auto begin = Clock::now();
  auto window_begin = begin;  // the rate is that of the steps since the last log line
  double window_samples = 0;
  while (step.count() < plan.steps) {
    const Feeds* feeds = data.next();
    if (feeds == nullptr) break;
    const StepResult result = step.run(*feeds, classify);
    summary.steps = step.count();
    summary.skipped += result.skipped ? 1 : 0;
    summary.samples += result.weight;
    summary.loss = result.loss;
    window_samples += result.weight;
    const double rate = window_samples / seconds_since(window_begin);
    if (step.count() % plan.log_every == 0 || step.count() == plan.steps) {
      console.line(console.format() == Console::Format::json ? json_line(result, rate)
                                                             : text_line(result, plan, rate));
      window_begin = Clock::now();
      window_samples = 0;
    }
    console.progress(step.count(),
                     grouped(rate) + " samples/s, loss " + number("%.4f", result.loss));
  }
  summary.seconds = seconds_since(begin);
  summary.waited = data.waited_seconds();
  return summary;
}

Evaluation test_lenet5(Towers<LeNet5>& towers, SyncStep<LeNet5>& step, const Dataset& test) {
  const AveragedParameters averaged(towers, step);
  return evaluate(towers, batches(test, towers.size(), {.batch_size = 200, .shuffle = false}),
                  classify);
}

}  // namespace pagoda::app
