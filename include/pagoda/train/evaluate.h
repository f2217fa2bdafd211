#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/tower/towers.h>
#include <pagoda/train/bring_ahead.h>
#include <pagoda/train/scored.h>
#include <pagoda/world/world.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// Means over all samples of an evaluation.
struct Evaluation {
  double loss = 0;                                           ///< mean
  std::vector<std::pair<std::string, double>> metrics = {};  ///< means, by name
  double weight = 0;                                         ///< samples

  /// The metric of that name. Fails: UsageError when there is none.
  double metric(const std::string& name) const;

  /// Adds the results of a feed that counts `weight`.
  void add(const Scored& scored, double feed_weight);
  /// Adds those of other samples.
  void add(const Evaluation& other);
};

/// The same over the samples of all processes, of which this one's are in `own`; all call it together.
/// Fails: WorldError.
Evaluation evaluation_of_all(World& world, const Evaluation& own);

/// Rank 0's, at every process.
Evaluation evaluation_of_first(World& world, const Evaluation& own);

/// Switches all replicas to evaluation (dropout off, running statistics used), and every module of
/// them back to its own mode at the end: what the user has set to `eval()` stays so. After a tower
/// was late nothing is switched: it may still compute.
class EvaluationPhase {
 public:
  explicit EvaluationPhase(const TowerGroup& towers);
  ~EvaluationPhase();
  EvaluationPhase(const EvaluationPhase&) = delete;
  EvaluationPhase& operator=(const EvaluationPhase&) = delete;

 private:
  struct Mode {
    std::shared_ptr<torch::nn::Module> module;
    bool training;
  };
  const TowerGroup& towers_;
  std::vector<Mode> modes_;  // a module before those in it
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

/// Runs `score` for the towers' feeds under no-grad and sums up in tower order. `weights` are the
/// feeds'.
Evaluation evaluate_feeds(TowerGroup& towers, std::vector<double> weights,
                          std::function<Scored(std::size_t feed, int tower)> score);

/// The sum of what `work` gives in every tower's thread. A tower that is late keeps what it needs.
Evaluation evaluate_towers(TowerGroup& towers, std::function<Evaluation(int tower)> work);

}  // namespace detail

template <class Model, Feed F, class Score>
Evaluation evaluate(Towers<Model>& towers, FeedStream<F> data, Score score) {
  const EvaluationPhase phase(towers);
  Evaluation total;
  while (const StepFeeds<F>* feeds = data.next()) {
    std::vector<double> weights;
    for (const F& feed : *feeds) weights.push_back(feed.weight());
    // By value: a tower that is late outlives this call.
    auto score_feed = [replicas = towers.typed_replicas(), own = std::vector<F>(*feeds), score](
                          std::size_t number, int tower) mutable {
      return detail::as_scored(score(replicas.model(tower), replicas.on_tower(own[number], tower)));
    };
    detail::bring_ahead(*feeds, towers);
    total.add(detail::evaluate_feeds(towers, std::move(weights), std::move(score_feed)));
  }
  return total;
}

}  // namespace pagoda
