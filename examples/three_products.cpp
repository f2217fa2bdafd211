// Three matrix products on three devices, summed on the CPU.
#include <pagoda/pagoda.h>

#include <vector>

#include "placement_check.h"

int main() {
  const auto cards = pagoda::simulate_devices(3);  // with GPUs: select_devices("cuda:0-2")
  const auto cpu = pagoda::select_devices("cpu:0").front();
  const pagoda::PlacementLog log;

  std::vector<pagoda::Later<at::Tensor>> products;
  for (const auto& card : cards) {
    products.push_back(pagoda::on(card, [](c10::Device device) {
      const at::Tensor a = at::empty({2, 3}, device).uniform_(-1, 1);
      const at::Tensor b = at::empty({3, 2}, device).uniform_(-1, 1);
      return a.mm(b);
    }));
  }
  const auto sum = pagoda::on(
      cpu, [](at::Tensor x, at::Tensor y, at::Tensor z) { return x + y + z; }, products[0],
      products[1], products[2]);

  at::Tensor expected = at::zeros({2, 2});
  for (const auto& product : products) expected += product.get().cpu();
  return show_and_check(log,
                        {"aten::mm: sim:0, sim:0 -> sim:0", "aten::mm: sim:1, sim:1 -> sim:1",
                         "aten::mm: sim:2, sim:2 -> sim:2", "aten::add: cpu, cpu -> cpu"},
                        sum.get(), expected);
}
