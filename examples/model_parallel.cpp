// Parts of one model on two devices: one multiplies, the other adds, the CPU sums.
#include <pagoda/pagoda.h>

#include "placement_check.h"

int main() {
  pagoda::simulate_devices(2);
  // On a machine with fewer devices the same program runs on those that there are.
  pagoda::SoftPlacement places(pagoda::SoftPlacement::Mode::on);
  const at::Tensor a = at::empty({2, 2}).uniform_(-1, 1).requires_grad_();
  const at::Tensor b = at::empty({2, 2}).uniform_(-1, 1).requires_grad_();
  const pagoda::PlacementLog log;

  const auto product = pagoda::on(
      places.device("sim:0"), [](at::Tensor x, at::Tensor y) { return x.mm(y); }, a, b);
  const auto added = pagoda::on(
      places.device("sim:1"), [](at::Tensor x, at::Tensor y) { return x + y; }, a, b);
  const auto sum = pagoda::on(
      places.device("cpu:0"), [](at::Tensor x, at::Tensor y) { return x + y; }, product, added);
  sum.get().sum().backward();  // through all three devices

  const at::Tensor gradient = at::ones({2, 2}).mm(b.detach().t()) + 1;
  if (!a.grad().allclose(gradient, 1e-5, 1e-6)) return 1;
  return show_and_check(log,
                        {"aten::mm: sim:0, sim:0 -> sim:0", "aten::add: sim:1, sim:1 -> sim:1",
                         "aten::add: cpu, cpu -> cpu"},
                        sum.get().detach(), (a.mm(b) + a + b).detach());
}
