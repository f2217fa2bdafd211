#pragma once

// What tests of several modules share: CPU towers of any number on any machine, and their tensors.

#include <pagoda/device/cpu_cores.h>
#include <pagoda/device/device.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/tower/tower_group.h>

#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace pagoda::testing {

/// The numbers of towers that every test of them tries.
inline const std::vector<int> kTowerCounts = {1, 2, 3, 8};

/// `count` CPU devices of one core each; they share cores where the machine has fewer.
inline std::vector<Device> cpu_devices(int count) {
  const std::vector<int> cores = usable_cores().cores;
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back({.kind = DeviceKind::cpu,
                       .index = i,
                       .original = i,
                       .name = "test",
                       .cores = {cores[static_cast<std::size_t>(i) % cores.size()]},
                       .memory_bytes = 0});
  }
  return devices;
}

/// One CPU device with up to `cores` cores.
inline Device cpu_device_of_cores(std::size_t cores) {
  std::vector<int> all = usable_cores().cores;
  all.resize(std::min(cores, all.size()));
  return {.kind = DeviceKind::cpu, .index = 0, .original = 0, .name = "test", .cores = all};
}

/// In CPU memory, wherever the tensors are.
inline std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& entry : tensors)
    result.push_back(entry.tensor.detach().to(at::kCPU, entry.tensor.scalar_type(), false, true));
  return result;
}

/// Copies of everything that a step may change in a group: parameters of master and towers,
/// buffers.
inline std::vector<at::Tensor> snapshot(const TowerGroup& towers) {
  std::vector<at::Tensor> all = copies(towers.master().trainable);
  for (int tower = 0; tower < towers.size(); ++tower) {
    for (const auto* list : {&towers.table(tower).trainable, &towers.table(tower).buffers}) {
      for (auto& tensor : copies(*list)) all.push_back(tensor);
    }
  }
  return all;
}

/// Bit for bit.
inline bool all_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) { return x.equal(y); });
}

/// The largest difference between elements; infinite when the lists do not match.
inline double largest_difference(const std::vector<at::Tensor>& a,
                                 const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].numel() == 0) continue;
    const double difference = (a[i] - b[i]).abs().max().item<double>();
    if (!(difference <= largest)) largest = difference;  // keeps a nan
  }
  return largest;
}

/// The Thrown that `work` throws; nothing when it throws none.
template <class Thrown, class Work>
std::optional<Thrown> thrown_by(Work&& work) {
  try {
    work();
  } catch (const Thrown& thrown) {
    return thrown;
  }
  return std::nullopt;
}

/// Its text; empty when none is thrown.
template <class Thrown, class Work>
std::string message_of(Work&& work) {
  const auto thrown = thrown_by<Thrown>(work);
  return thrown ? thrown->what() : "";
}

}  // namespace pagoda::testing
