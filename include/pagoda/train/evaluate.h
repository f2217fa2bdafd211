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
template <class Model, class Score>
Evaluation evaluate(Towers<Model>& towers, Batches data, Score score);

namespace detail {

/// Runs `score` for feed t on tower t under no-grad and sums up in tower order.
Evaluation evaluate_feeds(TowerGroup& towers, const Feeds& feeds,
                          const std::function<Scored(const Batch& batch, int tower)>& score);

}  // namespace detail

template <class Model, class Score>
Evaluation evaluate(Towers<Model>& towers, Batches data, Score score) {
  const EvaluationPhase phase(towers);
  Evaluation total;
  while (const Feeds* feeds = data.next()) {
    total.add(detail::evaluate_feeds(towers, *feeds, [&](const Batch& batch, int tower) {
      return detail::as_scored(score(towers.model(tower), batch));
    }));
  }
  return total;
}

}  // namespace pagoda
