#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/tower/towers.h>
#include <pagoda/train/scored.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// Means over all samples of an evaluation.
struct Evaluation {
  double loss = 0;
  std::vector<std::pair<std::string, double>> metrics = {};
  double weight = 0;  ///< samples

  /// The metric of that name. Fails: UsageError when there is none.
  double metric(const std::string& name) const;

  /// Adds the results of a feed that counts `weight`.
  void add(const Scored& scored, double feed_weight);
  void add(const Evaluation& other);
};

/// Switches all replicas to evaluation (dropout off, running statistics used), and back at the end.
class EvaluationPhase {
 public:
  explicit EvaluationPhase(TowerGroup& towers) : towers_(towers) { towers_.train(false); }
  ~EvaluationPhase() { towers_.train(true); }
  EvaluationPhase(const EvaluationPhase&) = delete;
  EvaluationPhase& operator=(const EvaluationPhase&) = delete;

 private:
  TowerGroup& towers_;
};

/// Scores every batch of `data` on all towers, without gradients, the models in evaluation mode.
///
/// `score(model, batch)` returns the batch's mean loss or a Scored, as for SyncStep.
/// Fails: TowerError when something throws on a tower.
/// Example: `double accuracy = evaluate(towers, batches(test, towers.size()),
/// score).metric("accuracy");`
template <class Model, Feed F, class Score>
Evaluation evaluate(Towers<Model>& towers, FeedStream<F> data, Score score);

namespace detail {

/// Runs `score` for feed f on tower f mod N under no-grad and sums up in tower order. `weights` are
/// the feeds'.
Evaluation evaluate_feeds(TowerGroup& towers, const std::vector<double>& weights,
                          const std::function<Scored(std::size_t feed, int tower)>& score);

}  // namespace detail

template <class Model, Feed F, class Score>
Evaluation evaluate(Towers<Model>& towers, FeedStream<F> data, Score score) {
  const EvaluationPhase phase(towers);
  Evaluation total;
  while (const StepFeeds<F>* feeds = data.next()) {
    std::vector<double> weights;
    for (const F& feed : *feeds) weights.push_back(feed.weight());
    total.add(detail::evaluate_feeds(towers, weights, [&](std::size_t number, int tower) {
      const F feed = (*feeds)[number].with_tensors(
          [&](const at::Tensor& tensor) { return towers.on_tower(tensor, tower); });
      return detail::as_scored(score(towers.model(tower), feed));
    }));
  }
  return total;
}

}  // namespace pagoda
