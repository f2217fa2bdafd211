// Two towers, each responsible for its own slice of shared variables; the CPU sums.
#include <pagoda/pagoda.h>

#include <vector>

#include "placement_check.h"

int main() {
  pagoda::simulate_devices(2);
  pagoda::SoftPlacement places(pagoda::SoftPlacement::Mode::on);
  const at::Tensor a = at::empty({2, 2, 3}).uniform_(-1, 1);
  const at::Tensor b = at::empty({2, 3, 2}).uniform_(-1, 1);
  const pagoda::PlacementLog log;

  std::vector<pagoda::Later<at::Tensor>> towers;
  for (int i = 0; i < 2; ++i) {
    towers.push_back(pagoda::on(
        places.device("sim:" + std::to_string(i)),
        [](at::Tensor x, at::Tensor y) { return x.mm(y); }, a[i], b[i]));
  }
  const auto sum = pagoda::on(
      places.device("cpu:0"), [](at::Tensor x, at::Tensor y) { return x + y; }, towers[0],
      towers[1]);

  return show_and_check(log,
                        {"aten::mm: sim:0, sim:0 -> sim:0", "aten::mm: sim:1, sim:1 -> sim:1",
                         "aten::add: cpu, cpu -> cpu"},
                        sum.get(), a.bmm(b).sum(0));
}
