#include <pagoda/base/error.h>
#include <pagoda/train/evaluate.h>

#include <ATen/core/grad_mode.h>

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

namespace detail {

Evaluation evaluate_feeds(TowerGroup& towers, const std::vector<double>& weights,
                          const std::function<Scored(std::size_t feed, int tower)>& score) {
  std::vector<Evaluation> results(static_cast<std::size_t>(towers.size()));
  towers.run({.name = "evaluation"}, [&](TowerJob& job) {
    at::NoGradGuard no_grad;
    const auto stride = static_cast<std::size_t>(towers.size());
    for (auto feed = static_cast<std::size_t>(job.tower); feed < weights.size(); feed += stride) {
      results[static_cast<std::size_t>(job.tower)].add(score(feed, job.tower), weights[feed]);
    }
  });
  Evaluation total;
  for (const auto& result : results) total.add(result);
  return total;
}

}  // namespace detail
}  // namespace pagoda
