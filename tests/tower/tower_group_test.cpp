#include <pagoda/tower/tower_group.h>

#include <latch>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/random_streams.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"
#include "tower/parameter_copies.h"

namespace pagoda {
namespace tower_group_test {

using testing::all_equal;
using testing::copies;
using testing::cpu_devices;
using testing::kTowerCounts;
using testing::make_module;
using testing::MlpImpl;
using testing::NoisyImpl;
using testing::TiedImpl;

TowerOptions with_placement(ParameterPlacement placement) { return {.placement = placement}; }

class TowerGroupTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Towers, TowerGroupTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(TowerGroupTest, RunsTheWorkOnEveryTowerAtOnce) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  std::latch all_here(GetParam());
  std::vector<std::thread::id> threads(static_cast<std::size_t>(GetParam()));
  towers.run({.name = "test"}, [&](TowerJob& job) {
    all_here.arrive_and_wait();  // would end in the timeout if towers ran one after another
    threads[static_cast<std::size_t>(job.tower)] = std::this_thread::get_id();
  });
  threads.push_back(std::this_thread::get_id());
  EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), threads.size());
}

TEST_P(TowerGroupTest, StartedWorkGoesOnByItselfAndIsWaitedFor) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  const int last = GetParam() - 1;
  std::latch release(1);
  int done = 0;
  towers.start(last, {.name = "first"}, [&](TowerJob& job) {
    release.wait();
    done += job.tower + 1;
  });
  for (int tower = 0; tower < last; ++tower) {  // the others are free meanwhile
    std::latch ran(1);
    towers.start(tower, {.name = "other"}, [&](TowerJob&) { ran.count_down(); });
    ran.wait();
    towers.finish(tower);
  }
  release.count_down();
  towers.start(last, {.name = "second"}, [&](TowerJob&) { done *= 2; });
  towers.run({.name = "third"}, [&](TowerJob& job) {
    if (job.tower == last) done += 1;
  });
  EXPECT_EQ(done, 2 * GetParam() + 1);
}

TEST_P(TowerGroupTest, WhatStartedWorkThrowsIsThrownWhenItIsWaitedFor) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  const auto fail = [](TowerJob&) { throw std::runtime_error("broken"); };
  bool ran = false;
  for (const auto& wait : std::vector<std::function<void()>>{
           [&] { towers.finish(0); },
           [&] { towers.start(0, {.name = "next"}, [&](TowerJob&) { ran = true; }); },
           [&] { towers.run({.name = "next"}, [&](TowerJob&) { ran = true; }); }}) {
    towers.start(0, {.name = "test", .step = 3}, fail);
    EXPECT_EQ(testing::message_of<TowerError>(wait), "tower 0 (cpu:0), test, step 3: broken");
  }
  EXPECT_FALSE(ran);
  EXPECT_NO_THROW(towers.finish(0));
}

TEST(TowerGroupTest, ATowerCanTakeAnothersRandomStream) {
  TowerGroup towers(cpu_devices(2), make_module<MlpImpl>, {.seed = 5});
  std::vector<at::Tensor> drawn(2);
  towers.run({.name = "test", .step = 3, .fresh_randomness = true},
             [&](TowerJob& job) { drawn[static_cast<std::size_t>(job.tower)] = torch::rand(8); });
  at::Tensor taken;
  towers.start(0, {.name = "test", .step = 3, .fresh_randomness = true, .stream = 1},
               [&](TowerJob&) { taken = torch::rand(8); });
  towers.finish(0);
  EXPECT_TRUE(taken.equal(drawn[1]));
}

TEST_P(TowerGroupTest, SharedTowersUseOneCopyOfTheParameters) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  ASSERT_EQ(towers.replicas()->placement(), ParameterPlacement::shared);
  for (int tower = 0; tower < towers.size(); ++tower) {
    for (std::size_t i = 0; i < 4; ++i) {
      const at::Tensor& own = towers.table(tower).trainable[i].tensor;
      EXPECT_EQ(own.data_ptr(), towers.master().trainable[i].tensor.data_ptr());
      EXPECT_TRUE(own.requires_grad() && own.is_leaf());
    }
  }
}

TEST_P(TowerGroupTest, HostTowersHaveCopiesOfTheMaster) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<NoisyImpl>,
                    with_placement(ParameterPlacement::host));
  std::set<void*> places;
  for (int tower = 0; tower < towers.size(); ++tower) {
    const ParameterTable& own = towers.table(tower);
    EXPECT_TRUE(all_equal(copies(own.trainable), copies(towers.master().trainable)));
    EXPECT_TRUE(all_equal(copies(own.buffers), copies(towers.master().buffers)));
    places.insert(own.trainable[0].tensor.data_ptr());
  }
  places.insert(towers.master().trainable[0].tensor.data_ptr());
  EXPECT_EQ(places.size(), static_cast<std::size_t>(GetParam()) + 1);
}

TEST_P(TowerGroupTest, RenewsHostTowersFromTheMaster) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>,
                    with_placement(ParameterPlacement::host));
  for (const auto& parameter : towers.parameters()) parameter.detach().fill_(7);
  const int last = GetParam() - 1;
  EXPECT_FALSE(all_equal(copies(towers.table(last).trainable), copies(towers.master().trainable)));
  towers.run({.name = "renew"},
             [&](TowerJob& job) { towers.replicas()->copies().renew(job.tower); });
  for (int tower = 0; tower < towers.size(); ++tower) {
    EXPECT_TRUE(
        all_equal(copies(towers.table(tower).trainable), copies(towers.master().trainable)));
  }
}

TEST_P(TowerGroupTest, RandomStreamsAreAFunctionOfSeedStepAndTower) {
  const auto draw = [](TowerGroup& towers, std::int64_t step) {
    std::vector<at::Tensor> drawn(static_cast<std::size_t>(towers.size()));
    towers.run({.name = "test", .step = step, .fresh_randomness = true},
               [&](TowerJob& job) { drawn[static_cast<std::size_t>(job.tower)] = torch::rand(8); });
    return drawn;
  };
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>, {.seed = 5});
  TowerGroup same(cpu_devices(GetParam()), make_module<MlpImpl>, {.seed = 5});
  TowerGroup other(cpu_devices(GetParam()), make_module<MlpImpl>, {.seed = 6});
  const auto drawn = draw(towers, 3);
  EXPECT_FALSE(all_equal(draw(towers, 4), drawn));
  EXPECT_TRUE(all_equal(draw(towers, 3), drawn));
  EXPECT_TRUE(all_equal(draw(same, 3), drawn));
  EXPECT_FALSE(all_equal(draw(other, 3), drawn));
  for (std::size_t tower = 1; tower < drawn.size(); ++tower) {
    EXPECT_FALSE(drawn[tower].equal(drawn[0]));
  }
}

TEST_P(TowerGroupTest, InitialValuesComeFromTheSeedAlone) {
  const auto values = [](int count, std::uint64_t seed, ParameterPlacement placement) {
    return copies(
        TowerGroup(cpu_devices(count), make_module<MlpImpl>, {.seed = seed, .placement = placement})
            .master()
            .trainable);
  };
  const auto one = values(1, 5, ParameterPlacement::shared);
  EXPECT_TRUE(all_equal(values(GetParam(), 5, ParameterPlacement::shared), one));
  EXPECT_TRUE(all_equal(values(GetParam(), 5, ParameterPlacement::host), one));
  EXPECT_FALSE(all_equal(values(GetParam(), 6, ParameterPlacement::shared), one));
}

TEST(TowerGroupTest, TiedParametersAreOneOnEveryTower) {
  const auto make_tied = [](int) { return std::make_shared<TiedImpl>(); };
  for (const ParameterPlacement placement :
       {ParameterPlacement::shared, ParameterPlacement::host}) {
    TowerGroup towers(cpu_devices(2), make_tied, with_placement(placement));
    for (int tower = 0; tower < 2; ++tower) {
      const auto& model = dynamic_cast<const TiedImpl&>(towers.module(tower));
      EXPECT_EQ(model.table.data_ptr(), model.same_table.data_ptr());
      EXPECT_EQ(model.again->weight.data_ptr(), model.middle->weight.data_ptr());
    }
  }
}

struct ExpandedBuffer : torch::nn::Module {
  at::Tensor mask = register_buffer("mask", torch::ones({1, 1}).expand({3, 3}));
};

TEST(TowerGroupTest, BuffersMayBeOneNumberExpanded) {
  TowerGroup towers(cpu_devices(2), make_module<ExpandedBuffer>);
  towers.table(1).buffers[0].tensor.copy_(torch::eye(3));
  EXPECT_TRUE(towers.table(1).buffers[0].tensor.equal(torch::eye(3)));
}

TEST(TowerGroupTest, FrozenParametersAreSharedAndNotHandedToOptimizers) {
  TowerGroup towers(cpu_devices(2), [](int) {
    auto model = std::make_shared<MlpImpl>();
    model->output->weight.set_requires_grad(false);
    return model;
  });
  EXPECT_EQ(towers.parameters().size(), 3u);
  ASSERT_EQ(towers.master().frozen.size(), 1u);
  EXPECT_EQ(towers.table(1).frozen[0].tensor.data_ptr(),
            towers.table(0).frozen[0].tensor.data_ptr());
}

TEST(TowerGroupTest, ImagesGetTheGroupsLayoutAndKeepTheirNumbers) {
  const auto make_conv = [](int) { return std::make_shared<torch::nn::Conv2dImpl>(3, 5, 3); };
  const at::Tensor image = torch::rand({2, 3, 4, 4});
  const at::Tensor bytes = torch::ones({2, 3, 4, 4}, torch::kByte);
  for (const ImageFormat format : {ImageFormat::channels_last, ImageFormat::contiguous}) {
    TowerGroup towers(cpu_devices(2), make_conv, {.image_format = format});
    const auto layout = format == ImageFormat::contiguous ? at::MemoryFormat::Contiguous
                                                          : at::MemoryFormat::ChannelsLast;
    EXPECT_TRUE(towers.on_tower(image, 1).is_contiguous(layout));
    EXPECT_TRUE(towers.on_tower(image, 1).equal(image));
    EXPECT_TRUE(towers.on_tower(bytes, 1).is_contiguous());
    EXPECT_TRUE(towers.table(1).trainable[0].tensor.is_contiguous(layout));
    EXPECT_EQ(towers.on_tower(image[0], 0).data_ptr(), image.data_ptr()) << "no needless copy";
    EXPECT_FALSE(towers.on_tower(at::Tensor(), 0).defined()) << "a feed without targets";
  }
}

}  // namespace tower_group_test
}  // namespace pagoda
