// A tower that comes back after everything around its work is gone finds all that it needs.

#include "support/late_tower.h"

#include <pagoda/base/error.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace late_tower_test {

using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::Kept;
using testing::kShortTimeout;
using testing::LateWork;
using testing::MeanSquare;
using testing::Mlp;
using testing::vector_feed;

Mlp make_mlp() { return in_double(Mlp()); }

TEST(LateTowerTest, AnEvaluationThatIsOverKeepsItsScoreFunction) {
  const auto late = std::make_shared<LateWork>();
  auto towers = make_towers(cpu_devices(2), make_mlp, {.timeout = kShortTimeout});
  {
    const Batch all = vector_feed(0, 2);
    const TensorDataset data(all.input, all.target);
    EXPECT_THROW(
        evaluate(towers, batches(data, 2, {.batch_size = 1, .shuffle = false}),
                 [late, kept = Kept()](Mlp& model, const Batch& batch) {
                   const at::Tensor loss = MeanSquare()(model, batch);
                   if (batch.samples[0] == 0) return loss;
                   late->stay_away();
                   late->come_back(kept.alive() && batch.input.isfinite().all().item<bool>());
                   return loss;
                 }),
        DeviceError);
  }
  late->release();
  EXPECT_TRUE(late->all_was_there());
}

TEST(LateTowerTest, AStepThatIsGoneWithItsTowersIsThereForTheLateOne) {
  const auto late = std::make_shared<LateWork>();
  {
    auto towers = make_towers(cpu_devices(2), make_mlp, {.timeout = kShortTimeout});
    SyncStep step(
        towers, Adam{},
        {.max_tower_grad_norm = 1, .on_phase = [late, kept = Kept()](const TowerJob& job) {
           if (job.tower == 0) return;
           if (job.phase == std::string("forward")) late->stay_away();
           if (job.phase == std::string("collect")) late->come_back(kept.alive());
         }});
    EXPECT_THROW(step.run(feeds_of(vector_feed, {2, 2}, 0), MeanSquare()), DeviceError);
  }
  late->release();
  EXPECT_TRUE(late->all_was_there());
}

}  // namespace late_tower_test
}  // namespace pagoda
