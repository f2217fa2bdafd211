#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/tower/tower_options.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::nn {
class Module;
}

namespace pagoda {

class BatchNormExchange;
class FeedCopies;
class ParameterCopies;
struct ReplicaUse;

/// Builds the replica of a tower. It must own what it uses: a tower that has missed its deadline
/// may still call it after whoever passed it is gone.
using ModelFactory = std::function<std::shared_ptr<torch::nn::Module>(int tower)>;

/// The towers' replicas of a model: modules, tensors, and where they are.
///
/// A group shares it with whatever runs in its towers' threads, so that a tower that has missed its
/// deadline finds everything in place even if the group is gone.
///
/// Threads: build(t) in the thread of tower t; `master` while no tower runs; everything else is
/// constant once all replicas are built.
/// Fails: UsageError for no devices, replicas that differ, or a placement or option that the
/// devices do not support.
class Replicas {
 public:
  Replicas(std::vector<Device> devices, const TowerOptions& options);
  ~Replicas();

  /// How many towers there are.
  int size() const { return static_cast<int>(devices_.size()); }
  /// A tower's device.
  const Device& device(int tower) const { return devices_[static_cast<std::size_t>(tower)]; }
  /// The towers' devices, in tower order.
  const std::vector<Device>& devices() const { return devices_; }
  /// The options as they were given.
  const TowerOptions& options() const { return options_; }

  /// A tower's module.
  torch::nn::Module& module(int tower) const { return *modules_[static_cast<std::size_t>(tower)]; }
  /// Whether the tower's replica has been built.
  bool is_built(int tower) const { return modules_[static_cast<std::size_t>(tower)] != nullptr; }

  /// The tensors of one tower's replica.
  const ParameterTable& table(int tower) const { return tables_[static_cast<std::size_t>(tower)]; }

  /// The current parameters in CPU memory: tower 0's own if all towers are CPU towers (except with
  /// host placement), otherwise a copy, which this call brings up to date.
  const ParameterTable& master() const;
  /// The placement as it was chosen, or resolved.
  ParameterPlacement placement() const;

  /// What keeps the copies of the parameters equal.
  ParameterCopies& copies() { return *copies_; }
  /// The same.
  const ParameterCopies& copies() const { return *copies_; }

  /// What steps on these replicas must know about each other.
  ReplicaUse& use() const { return *use_; }

  /// What gives BatchNorm layers the statistics of all towers; null without sync_batch_norm.
  const std::shared_ptr<BatchNormExchange>& batch_norm() const { return batch_norm_; }

  /// The tensor on the tower's device, with images in the group's format; an undefined tensor stays
  /// undefined.
  at::Tensor on_tower(const at::Tensor& tensor, int tower) const;

  /// What copies feeds to cards ahead of their step.
  FeedCopies& feed_copies() const { return *feed_copies_; }

  /// Builds a tower's replica. Tower 0 comes first, followed by `copies().begin`; the other towers
  /// take its values.
  void build(int tower, const ModelFactory& factory);

 private:
  const std::vector<Device> devices_;
  const TowerOptions options_;
  const std::unique_ptr<ParameterCopies> copies_;
  const std::unique_ptr<ReplicaUse> use_;
  const std::unique_ptr<FeedCopies> feed_copies_;
  std::shared_ptr<BatchNormExchange> batch_norm_;
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<ParameterTable> tables_;
};

/// Fails: UsageError naming the first parameter that requires a gradient on some towers only, or
/// that requires one now but did not when the replicas were built: a step would not train it as
/// intended.
void check_requires_grad(const Replicas& replicas);

}  // namespace pagoda
