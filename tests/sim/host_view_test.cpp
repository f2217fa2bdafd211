#include "sim/host_view.h"

#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace host_view_test {

using testing::on_sim;

TEST(HostViewTest, IsTheSameMemory) {
  const at::Tensor card = at::arange(12, on_sim(0)).reshape({3, 4});
  const at::Tensor part = card.t().slice(0, 1, 3);
  const at::Tensor host = host_view(part);
  EXPECT_TRUE(host.is_cpu());
  EXPECT_EQ(host.sizes(), part.sizes());
  EXPECT_EQ(host.strides(), part.strides());
  EXPECT_EQ(host.const_data_ptr(), part.const_data_ptr());
  host.fill_(-1);
  EXPECT_EQ(card.sum().item<float>(), 0 + 3 + 4 + 7 + 8 + 11 - 6);
}

TEST(HostViewTest, ResultsComeBackAsArgumentsViewsOrNewMemory) {
  const at::Tensor card = at::zeros({2, 3}, on_sim(1));
  HostViews views(1);
  const at::Tensor host = views.view(card);
  EXPECT_TRUE(views.view(card).is_same(host));
  EXPECT_TRUE(views.back(host).is_same(card));
  const at::Tensor row = views.back(host.select(0, 1));
  EXPECT_EQ(row.device(), card.device());
  EXPECT_TRUE(row.is_alias_of(card));
  EXPECT_EQ(row.storage_offset(), 3);
  const at::Tensor fresh = views.back(at::ones({5}));
  EXPECT_EQ(fresh.device(), card.device());
  EXPECT_EQ(fresh.sum().item<float>(), 5);
}

TEST(HostViewTest, ArgumentsThatShareMemoryGoOnDoingSo) {
  const at::Tensor card = at::zeros({4}, on_sim(0));
  HostViews views(0);
  EXPECT_TRUE(views.view(card).is_alias_of(views.view(card.slice(0, 2))));
}

TEST(HostViewTest, AnOutputThatGrewIsTakenOver) {
  const at::Tensor card = at::empty({0}, on_sim(0));
  const at::Tensor alias = card.view({0});
  HostViews views(0);
  at::Tensor host = views.view(card);
  host.resize_({2, 2});
  host.fill_(7);
  views.take_changes(card);
  EXPECT_EQ(card.sizes(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(card.sum().item<float>(), 28);
  EXPECT_TRUE(alias.is_alias_of(card));
}

TEST(HostViewTest, SparseTensorsKeepTheirRows) {
  const at::Tensor indices = at::tensor({2, 0}, at::kLong).unsqueeze(0);
  const at::Tensor dense_rows = at::arange(6, at::kFloat).reshape({2, 3});
  const at::Tensor host = at::sparse_coo_tensor(indices, dense_rows, {4, 3});
  const at::Tensor card = host.to(on_sim(0).device());
  ASSERT_TRUE(card.is_sparse());
  EXPECT_EQ(card.device(), on_sim(0).device());
  HostViews views(0);
  const at::Tensor view = views.view(card);
  EXPECT_TRUE(view.is_cpu());
  EXPECT_TRUE(view.to_dense().equal(host.to_dense()));
  EXPECT_TRUE(views.back(view).is_same(card));
}

}  // namespace host_view_test
}  // namespace pagoda
