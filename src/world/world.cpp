#define USE_C10D_GLOO  // LibTorch was built with it

#include <pagoda/world/world.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <ATen/ops/empty.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "world/route.h"
#include "world/world_state.h"

namespace pagoda {
namespace {

/// What gathering uses; those who swap count from 0.
constexpr int kGatherChannel = 1'000'000;

}  // namespace

World::World(std::unique_ptr<State> state) : state_(std::move(state)) {}

World::~World() {
  state_->leave();
  state_->heartbeat.reset();
  state_->group.reset();
}

std::shared_ptr<World> World::join(const WorldPlace& place, const WorldOptions& options) {
  const std::string address =
      options.address.empty() ? address_towards(place.master, place.port) : options.address;
  silence_c10d();
  std::unique_ptr<State> state(new State{.place = place,
                                         .options = options,
                                         .store = open_store(place, options.join_timeout),
                                         .address = address});
  state->meet();
  return std::shared_ptr<World>(new World(std::move(state)));
}

std::vector<std::shared_ptr<World>> World::in_process(int size, const WorldOptions& options) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::shared_ptr<World>> worlds(static_cast<std::size_t>(size));
  std::vector<std::exception_ptr> errors(worlds.size());
  std::vector<std::thread> threads;  // ranks wait for each other
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      try {
        std::unique_ptr<State> state(
            new State{.place = {.rank = rank, .size = size, .local_rank = rank, .local_size = size},
                      .options = options,
                      .store = store,
                      .address = "127.0.0.1"});
        state->meet();
        worlds[index].reset(new World(std::move(state)));
      } catch (...) {
        errors[index] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return worlds;
}

int World::rank() const { return state_->place.rank; }
int World::size() const { return state_->place.size; }
std::string World::name(int rank) const { return state_->name_of(rank); }
const std::string& World::address() const { return state_->address; }
void World::ask_to_stop(int reason) { state_->asked_stop = reason; }
int World::asked_to_stop() const { return state_->asked_stop; }
void World::agree_to_stop(int reason) { state_->agreed_stop = reason; }
int World::agreed_to_stop() const { return state_->agreed_stop; }
WorldTraffic World::traffic() const {
  const std::lock_guard lock(state_->mutex);
  return state_->traffic;
}

namespace {

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

}  // namespace

void World::sum(const at::Tensor& values) {
  if (values.numel() == 0) return;
  std::vector<at::Tensor> tensors{values};
  state_->exchange("sum", 2 * (size() - 1) * bytes_of(values) / size(),
                   [&] { return state_->group->allreduce(tensors); });
}

void World::broadcast(const at::Tensor& values, int from) {
  std::vector<at::Tensor> tensors{values};
  c10d::BroadcastOptions options;
  options.rootRank = from;
  state_->exchange("broadcast", rank() == from ? (size() - 1) * bytes_of(values) : 0,
                   [&] { return state_->group->broadcast(tensors, options); });
}

/// Sends and receives of one rank.
class World::Transfers final : public Swap {
 public:
  Transfers(State& state, std::vector<WorkPointer> works)
      : state_(state), works_(std::move(works)) {}
  ~Transfers() override { forget(); }

  void wait() override {
    const auto end = std::chrono::steady_clock::now() + state_.options.timeout;
    try {
      for (const WorkPointer& work : works_) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        if (!work->wait(std::max(left, std::chrono::milliseconds(1))))
          throw WorldError("interrupted");
      }
    } catch (const std::exception& error) {
      forget();
      state_.lose("swap", error);
    }
    forget();
  }

 private:
  void forget() {
    const std::lock_guard lock(state_.mutex);
    std::erase_if(state_.under_way, [&](const WorkPointer& one) {
      return std::find(works_.begin(), works_.end(), one) != works_.end();
    });
    works_.clear();
  }

  State& state_;
  std::vector<WorkPointer> works_;
};

std::unique_ptr<Swap> World::start_swap(int channel, const std::vector<at::Tensor>& to,
                                        const std::vector<at::Tensor>& from) {
  std::int64_t bytes = 0;
  for (int other = 0; other < size(); ++other)
    bytes += other == rank() ? 0 : bytes_of(to[static_cast<std::size_t>(other)]);
  auto works = state_->begin("swap", bytes, [&] {
    std::vector<WorkPointer> begun;
    for (int distance = 1; distance < size(); ++distance) {
      const int next = (rank() + distance) % size();
      const int before = (rank() + size() - distance) % size();
      std::vector<at::Tensor> sent{to[static_cast<std::size_t>(next)]};
      std::vector<at::Tensor> received{from[static_cast<std::size_t>(before)]};
      if (bytes_of(received[0]) > 0)
        begun.push_back(state_->group->recv(received, before, channel));
      if (bytes_of(sent[0]) > 0) begun.push_back(state_->group->send(sent, next, channel));
    }
    state_->under_way.insert(state_->under_way.end(), begun.begin(), begun.end());
    return begun;
  });
  return std::make_unique<Transfers>(*state_, std::move(works));
}

std::vector<at::Tensor> World::gather_equal(const at::Tensor& own) {
  std::vector<at::Tensor> all;
  for (int i = 0; i < size(); ++i)
    all.push_back(i == rank() ? own : at::empty(own.sizes(), own.options()));
  swap(std::vector<at::Tensor>(all.size(), own), all);
  return all;
}

std::vector<at::Tensor> World::gather(const at::Tensor& own) {
  const at::Tensor length = at::empty({1}, at::kLong).fill_(own.size(0));
  std::vector<at::Tensor> all;
  for (const at::Tensor& one : gather_equal(length)) {
    std::vector<std::int64_t> shape = own.sizes().vec();
    shape[0] = one.item<std::int64_t>();
    all.push_back(at::empty(shape, own.options()));
  }
  all[static_cast<std::size_t>(rank())] = own;
  swap(std::vector<at::Tensor>(all.size(), own), all);
  return all;
}

void World::swap(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from) {
  const Stopwatch watch;
  start_swap(kGatherChannel, to, from)->wait();
  count_waiting(watch.seconds());
}

void World::count_waiting(double seconds) { state_->count_waiting(seconds); }

std::vector<std::string> World::gather(const std::string& own) {
  const at::Tensor bytes = at::empty({static_cast<std::int64_t>(own.size())}, at::kByte);
  std::copy(own.begin(), own.end(), bytes.mutable_data_ptr<std::uint8_t>());
  std::vector<std::string> found;
  for (const at::Tensor& one : gather(bytes)) {
    const auto* data = one.const_data_ptr<std::uint8_t>();
    found.emplace_back(data, data + one.numel());
  }
  return found;
}

void World::barrier() {
  state_->exchange("barrier", 0, [&] { return state_->group->barrier(); });
}

bool World::has_failed() noexcept { return state_->is_failing(); }

void World::fail(const std::string& reason) noexcept {
  const std::string text = state_->name_of(rank()) + ": " + reason;
  state_->tell(text);
  state_->close(text);
}

}  // namespace pagoda
