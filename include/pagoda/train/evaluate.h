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

  /// Adds the results of a feed of weight `feed_weight`.
  void add(const Scored& scored, double feed_weight);
  /// Adds the means over other samples.
  void add(const Evaluation& other);
};

/// The evaluation over the samples of all processes, given this process's own; all processes call
/// it together.
/// Fails: WorldError.
Evaluation evaluation_of_all(World& world, const Evaluation& own);

/// Rank 0's evaluation, at every process; all processes call it together. Fails: WorldError.
Evaluation evaluation_of_first(World& world, const Evaluation& own);

/// While it lives, all replicas are in evaluation mode (dropout off, running statistics used). The
/// destructor returns every module to the mode it had before, so a module that the user has put
/// into `eval()` stays there. After a tower has missed its deadline it changes nothing: that tower
/// may still be computing.
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
  std::vector<Mode> modes_;  // parents before children
};

/// Scores every batch of `data` on all towers, without gradients and with the models in evaluation
/// mode.
///
/// `score(model, batch)` returns the batch's mean loss or a Scored, as for SyncStep.
/// Fails: TowerError when something throws on a tower; DeviceError when a tower misses its
/// deadline.
/// Example: `double accuracy = evaluate(towers, batches(test, towers.size()),
/// score).metric("accuracy");`
template <class Model, Feed F, class Score>
Evaluation evaluate(Towers<Model>& towers, FeedStream<F> data, Score score);

namespace detail {

/// Runs `score` on each tower for its feeds, under no-grad, and adds up the results in tower order.
/// `weights` has the weight of each feed.
Evaluation evaluate_feeds(TowerGroup& towers, std::vector<double> weights,
                          std::function<Scored(std::size_t feed, int tower)> score);

/// The sum of what `work` returns in every tower's thread. The towers share ownership of `work`, so
/// one that misses its deadline still finds it.
Evaluation evaluate_towers(TowerGroup& towers, std::function<Evaluation(int tower)> work);

}  // namespace detail

template <class Model, Feed F, class Score>
Evaluation evaluate(Towers<Model>& towers, FeedStream<F> data, Score score) {
  const EvaluationPhase phase(towers);
  Evaluation total;
  while (const StepFeeds<F>* feeds = data.next()) {
    std::vector<double> weights;
    for (const F& feed : *feeds) weights.push_back(feed.weight());
    // By value: a tower that misses its deadline outlives this call.
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
