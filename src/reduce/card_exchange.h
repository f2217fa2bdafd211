#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reduce/card_sum.h"
#include "reduce/combine.h"
#include "reduce/gradient_exchange.h"

namespace pagoda {

/// Cards that sum dense gradients among themselves: the sums stay on the cards, which update their
/// own parameters. Row-sparse gradients go through CPU memory.
class CardExchange final : public GradientExchange {
 public:
  CardExchange(const std::shared_ptr<const Replicas>& replicas, std::unique_ptr<CardLink> link,
               std::optional<double> max_tower_norm, std::optional<at::ScalarType> narrow);

  void weigh(double weight) override { sum_.weigh(weight); }
  void begin(int tower) override { gradients_.release(tower); }
  void last_backward(int tower) override;
  Clipped collect(int tower, double mean_scale, const std::vector<double>& l2) override;
  GradientView view(const std::vector<double>& clips) override;
  double squares_on_device(int tower, const GradientView& gradients,
                           const std::vector<double>& l2) const override;
  void renew(int tower) override { sum_.exchange(tower); }
  bool renews_from_master() const override { return false; }
  void abort() override { sum_.abort(); }
  void discard() override;

 private:
  const std::shared_ptr<const Replicas> replicas_;
  const std::optional<double> max_tower_norm_;
  CardSum sum_;
  GradientCollector gradients_;
};

}  // namespace pagoda
