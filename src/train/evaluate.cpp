#include <pagoda/base/error.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/step_feeds.h>
#include <pagoda/world/text_of_first.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

namespace pagoda {

double Evaluation::metric(const std::string& name) const {
  for (const auto& [known, value] : metrics) {
    if (known == name) return value;
  }
  throw UsageError("the evaluation has no metric '" + name +
                   "'; the score function must return it");
}

void Evaluation::add(const Scored& scored, double feed_weight) {
  Evaluation one{.loss = scored.loss.item<double>(), .weight = feed_weight};
  for (const auto& [name, value] : scored.metrics)
    one.metrics.emplace_back(name, value.item<double>());
  add(one);
}

void Evaluation::add(const Evaluation& other) {
  const double sum = weight + other.weight;
  if (sum == 0) return;
  loss += (other.loss - loss) * other.weight / sum;
  if (metrics.empty()) {
    metrics = other.metrics;
  } else {
    for (std::size_t i = 0; i < metrics.size() && i < other.metrics.size(); ++i) {
      metrics[i].second += (other.metrics[i].second - metrics[i].second) * other.weight / sum;
    }
  }
  weight = sum;
}

namespace {

/// A line for each number, exact: names have no line breaks.
std::string text_of(const Evaluation& evaluation) {
  std::ostringstream text;
  text << std::hexfloat << evaluation.weight << "\n" << evaluation.loss << "\n";
  for (const auto& [name, value] : evaluation.metrics) text << name << "\n" << value << "\n";
  return text.str();
}

Evaluation evaluation_in(const std::string& text) {
  std::istringstream lines(text);
  const auto number = [&] {
    std::string line;
    std::getline(lines, line);
    return std::strtod(line.c_str(), nullptr);  // streams do not read hexadecimal numbers
  };
  Evaluation evaluation;
  evaluation.weight = number();
  evaluation.loss = number();
  for (std::string name; std::getline(lines, name);)
    evaluation.metrics.emplace_back(name, number());
  return evaluation;
}

}  // namespace

Evaluation evaluation_of_all(World& world, const Evaluation& own) {
  Evaluation total;
  for (const std::string& text : world.gather(text_of(own))) total.add(evaluation_in(text));
  return total;
}

Evaluation evaluation_of_first(World& world, const Evaluation& own) {
  return evaluation_in(text_of_first(world, text_of(own)));
}

EvaluationPhase::EvaluationPhase(const TowerGroup& towers) : towers_(towers) {
  for (int tower = 0; tower < towers.size(); ++tower) {
    torch::nn::Module& module = towers.module(tower);
    for (const auto& part : module.modules()) modes_.push_back({part, part->is_training()});
    module.eval();
  }
}

EvaluationPhase::~EvaluationPhase() {
  if (!towers_.usable()) return;
  for (const auto& [module, training] : modes_) module->train(training);
}

namespace detail {

Evaluation evaluate_feeds(TowerGroup& towers, std::vector<double> weights,
                          std::function<Scored(std::size_t feed, int tower)> score) {
  return evaluate_towers(towers, [weights = std::move(weights), score = std::move(score),
                                  count = towers.size()](int tower) {
    const at::NoGradGuard no_grad;
    Evaluation result;
    for (const std::size_t feed : feeds_of(tower, count, weights.size()))
      result.add(score(feed, tower), weights[feed]);
    return result;
  });
}

Evaluation evaluate_towers(TowerGroup& towers, std::function<Evaluation(int tower)> work) {
  const auto results =
      std::make_shared<std::vector<Evaluation>>(static_cast<std::size_t>(towers.size()));
  towers.run({.name = "evaluation"}, [results, replicas = towers.replicas(),
                                      work = std::move(work)](TowerJob& job) {
    const PrecisionScope precision(replicas->options().precision, replicas->device(job.tower));
    (*results)[static_cast<std::size_t>(job.tower)] = work(job.tower);
  });
  Evaluation total;
  for (const auto& result : *results) total.add(result);
  return total;
}

}  // namespace detail
}  // namespace pagoda
