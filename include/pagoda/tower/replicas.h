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

/// Builds the replica of a tower. It must own what it uses: a tower that is late may still call it
/// when whoever gave it is gone.
using ModelFactory = std::function<std::shared_ptr<torch::nn::Module>(int tower)>;

/// The towers' replicas of a model: modules, tensors, and where they are.
///
/// A group shares it with whatever runs in its towers' threads, so that a tower that is late finds
/// everything in place even when the group is gone.
///
/// Threads: build(t) in the thread of tower t; everything else is constant once all are built.
/// Fails: UsageError for no devices, replicas that differ, or a placement that a device cannot do.
class Replicas {
 public:
  Replicas(std::vector<Device> devices, const TowerOptions& options);
  ~Replicas();

  /// How many towers there are.
  int size() const { return static_cast<int>(devices_.size()); }
  /// Where a tower is.
  const Device& device(int tower) const { return devices_[static_cast<std::size_t>(tower)]; }
  /// Where the towers are, in their order.
  const std::vector<Device>& devices() const { return devices_; }
  /// As they were given.
  const TowerOptions& options() const { return options_; }

  /// A tower's module.
  torch::nn::Module& module(int tower) const { return *modules_[static_cast<std::size_t>(tower)]; }
  /// Whether `build` was called for the tower.
  bool is_built(int tower) const { return modules_[static_cast<std::size_t>(tower)] != nullptr; }

  /// The tensors of one tower's replica.
  const ParameterTable& table(int tower) const { return tables_[static_cast<std::size_t>(tower)]; }

  /// The current parameters in CPU memory: tower 0's own where all towers are CPU towers (but for
  /// host placement), otherwise a copy.
  const ParameterTable& master() const;
  /// As it was chosen, or resolved.
  ParameterPlacement placement() const;

  /// How the copies of the parameters are kept equal.
  ParameterCopies& copies() { return *copies_; }
  /// The same.
  const ParameterCopies& copies() const { return *copies_; }

  /// What the steps over these replicas must know of each other.
  ReplicaUse& use() const { return *use_; }

  /// Through which BatchNorm layers learn of all towers; null without sync_batch_norm.
  const std::shared_ptr<BatchNormExchange>& batch_norm() const { return batch_norm_; }

  /// The tensor on the tower's device, images in the group's format; an undefined one stays so.
  at::Tensor on_tower(const at::Tensor& tensor, int tower) const;

  /// For feeds that go to cards before their step: how they are copied there.
  FeedCopies& feed_copies() const { return *feed_copies_; }

  /// Builds a tower's replica. Tower 0 comes first, and then `copies().begin`: the others take its
  /// values.
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

/// Fails: UsageError that names the first parameter that requires a gradient on some towers only, or
/// that did not when the replicas were built and does now: a step would not train it as meant.
void check_requires_grad(const Replicas& replicas);

}  // namespace pagoda
