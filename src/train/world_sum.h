#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/world/world.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "params/block_plan.h"
#include "train/wire.h"
#include "train/world_share.h"

namespace pagoda {

/// Sums dense gradients over all processes, in buckets that go on their way one by one.
///
/// A bucket has a part for each rank. Every rank sends the others their parts, adds up those that it
/// gets in the order of the ranks, and sends the sum to all (or keeps it, where each updates its own
/// part). So each element has one order of summation, wherever it lies: bits do not depend on what
/// travels together, or when.
///
/// All ranks send the same buckets between two calls of `finish`, in any order, each of them once.
///
/// Threads: `send` on any; the rest on the coordinating thread. Owns: the memory that gradients travel
/// in, and a thread that does the adding.
/// Fails: WorldError from finish.
class WorldSum {
 public:
  /// Large enough to use a link well, small enough that sums begin before all has come.
  static constexpr std::int64_t kBucketBytes = 1 << 20;

  /// `owned`: which elements each rank keeps the sums of, and no other gets; null: all get all.
  WorldSum(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters, WireType wire,
           const WorldShare* owned = nullptr, std::int64_t bucket_bytes = kBucketBytes);
  ~WorldSum();
  WorldSum(const WorldSum&) = delete;
  WorldSum& operator=(const WorldSum&) = delete;

  /// Blocks of parameters, from the last parameter to the first, about as backward comes to them. A
  /// parameter is cut, between rows, only where it has buckets of its own.
  struct Bucket {
    std::vector<Block> blocks;
    at::Tensor values;  // all of them, one after the other
    at::Tensor lost;    // by rounding, of each; undefined where values travel as they are
    std::vector<ElementRange> parts;  // of the values, by rank
  };
  const std::vector<Bucket>& buckets() const { return buckets_; }

  /// A parameter's place in the buckets' values, laid out like it: its gradient before `send`, the
  /// sum after `finish`.
  const at::Tensor& place(std::size_t parameter) const { return places_[parameter]; }

  /// The same of what rounding has taken from its gradients so far and has not been sent yet;
  /// undefined where values travel as they are.
  const at::Tensor& lost(std::size_t parameter) const { return lost_[parameter]; }

  /// The bucket's values are there: it may leave.
  void send(std::size_t bucket);

  /// Until the sums of all that was sent are there.
  void finish();

 private:
  struct Journey;

  void cut(const std::vector<NamedTensor>& parameters, at::ScalarType type,
           std::int64_t bucket_bytes);
  void set_parts(Bucket& bucket) const;
  static at::Tensor part(const Bucket& bucket, const at::Tensor& values, int rank);
  void leave(std::size_t bucket);
  void add_up(Journey& journey);
  void arrive(Journey& journey);
  void add_and_return();

  // Constant after construction.
  const std::shared_ptr<World> world_;
  const WireType wire_;
  const WorldShare* const owned_;
  std::vector<Bucket> buckets_;
  std::vector<at::Tensor> places_;  // by parameter
  std::vector<at::Tensor> lost_;    // the same

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Journey> leaving_;  // sent; parts of the others come in
  std::size_t under_way_ = 0;    // those and what the thread has in hand
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace pagoda
