#define USE_C10D_GLOO  // LibTorch was built with it

#include <pagoda/base/stopwatch.h>
#include <pagoda/world/world.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "world/gathering.h"
#include "world/heartbeat.h"
#include "world/route.h"

namespace pagoda {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
using Group = c10d::ProcessGroupGloo;

constexpr auto kLeaveTime = std::chrono::seconds(10);
constexpr auto kLastWordsTime = std::chrono::seconds(5);  // to ask the store after a failure

/// The first line of what a library says, without the place in its source.
std::string first_line(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (const std::size_t end = text.find("] "); text.starts_with('[') && end != std::string::npos)
    text = text.substr(end + 2);
  return text;
}

/// c10d writes what fails on its way to stderr, with backtraces; the error that comes of it says it
/// once. Whoever asks LibTorch for its log by the variable gets it.
void silence_c10d() {
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = c10::GLOG_FATAL;
}

/// c10d writes to connections whose other side may be gone; that is an error to report, and by default
/// the end of the process.
void ignore_broken_pipes() {
  struct sigaction current {};
  if (sigaction(SIGPIPE, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  current.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &current, nullptr);
}

StorePointer open_store(const WorldPlace& place, std::chrono::milliseconds timeout) {
  const bool serves = place.rank == 0 && !place.launcher_serves;
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = timeout;
  try {
    return c10::make_intrusive<c10d::TCPStore>(place.master, options);
  } catch (const std::exception& error) {
    const std::string where = place.master + ":" + std::to_string(place.port);
    throw WorldError(
        "rank " + std::to_string(place.rank) +
        (serves ? " cannot serve the others at " + where + ": " + first_line(error) +
                      "; another run may use the port, choose another with MASTER_PORT or --master"
                : " cannot reach rank 0 at " + where + ": " + first_line(error) +
                      "; is rank 0 running there, and does a firewall let the port through?"));
  }
}

std::shared_ptr<gloo::transport::Device> gloo_device(const std::string& address) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr)
    return Group::createDeviceForInterface(interface);
  return Group::createDeviceForHostname(address);
}

}  // namespace

struct World::State {
  WorldPlace place;
  WorldOptions options;
  StorePointer store;
  std::string address;
  std::string prefix = {};
  std::vector<std::string> hosts = {};
  c10::intrusive_ptr<Group> group = {};
  std::unique_ptr<Heartbeat> heartbeat = {};
  std::optional<std::string> failure = std::nullopt;
  WorldTraffic traffic = {};
  int asked_stop = 0;
  int agreed_stop = 0;

  void meet();
  void leave();

  /// Runs an exchange that gives so many bytes of this rank; `start` begins it.
  template <class Start>
  void exchange(const char* name, std::int64_t bytes, Start start);

  std::string name_of(int rank) const {
    return "rank " + std::to_string(rank) + " (" + hosts[static_cast<std::size_t>(rank)] + ")";
  }
  std::string explain(const char* exchange, const std::exception& error);
  std::string who_failed(const std::string& own_view);
};

void World::State::meet() {
  ignore_broken_pipes();
  const Gathered gathered = gather_ranks(*store, place, host_name(), options.join_timeout);
  prefix = gathered.prefix;
  hosts = gathered.hosts;
  auto group_options = Group::Options::create(options.join_timeout);
  try {
    group_options->devices.push_back(gloo_device(address));
    group =
        c10::make_intrusive<Group>(c10::make_intrusive<c10d::PrefixStore>(prefix + "gloo", store),
                                   place.rank, place.size, group_options);
  } catch (const std::exception& error) {
    throw WorldError(name_of(place.rank) + " cannot connect to the others from " + address + ": " +
                     first_line(error) + "; GLOO_SOCKET_IFNAME chooses another network interface");
  }
  group->setTimeout(options.timeout);
  heartbeat = std::make_unique<Heartbeat>(store->clone(), prefix, place.rank);
}

template <class Start>
void World::State::exchange(const char* name, std::int64_t bytes, Start start) {
  if (failure) throw WorldError(*failure);
  ++traffic.exchanges;
  traffic.bytes += bytes;
  try {
    traffic.seconds += seconds_of([&] { start()->wait(); });
  } catch (const std::exception& error) {
    failure = explain(name, error);
    group.reset();
    throw WorldError(*failure);
  }
}

std::string World::State::explain(const char* exchange, const std::exception& error) {
  const std::string own_view = first_line(error);
  try {
    store->setTimeout(kLastWordsTime);
    store->add(prefix + "left", 1);  // nobody needs to wait for this one
    return who_failed("'" + std::string(exchange) + "' failed at " + name_of(place.rank) + ": " +
                      own_view);
  } catch (const std::exception&) {
    return "the store at " + place.master + ":" + std::to_string(place.port) +
           " is gone: " + name_of(0) + " or its launcher has ended";
  }
}

/// The failure that a rank has reported; else who is silent; else how it looks from here.
std::string World::State::who_failed(const std::string& own_view) {
  const std::string key = prefix + "failure";
  if (store->check({key})) return store->get_to_str(key);
  const std::vector<int> silent = Heartbeat::silent(*store, prefix, place.size);
  if (store->check({key})) return store->get_to_str(key);
  if (silent.empty())
    return own_view + "; all processes are alive: the network between them failed";
  std::string names;
  for (const int rank : silent) names += (names.empty() ? "" : ", ") + name_of(rank);
  return names + (silent.size() == 1 ? " is" : " are") + " gone or " +
         (silent.size() == 1 ? "does" : "do") + " not answer";
}

/// Nobody closes connections that others still use, nor the store.
void World::State::leave() {
  if (failure || !group) return;
  const auto end = std::chrono::steady_clock::now() + kLeaveTime;
  try {
    store->add(prefix + "left", 1);
    while (store->add(prefix + "left", 0) < place.size && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    store->add(prefix + "gone", 1);
    const bool serves = place.rank == 0 && !place.launcher_serves;
    while (serves && store->add(prefix + "gone", 0) < place.size &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } catch (const std::exception&) {  // the store is gone: so are the others
  }
}

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
WorldTraffic World::traffic() const { return state_->traffic; }

void World::sum(const at::Tensor& values) {
  if (values.numel() == 0) return;
  std::vector<at::Tensor> tensors{values};
  state_->exchange("sum", static_cast<std::int64_t>(values.nbytes()),
                   [&] { return state_->group->allreduce(tensors); });
}

void World::broadcast(const at::Tensor& values, int from) {
  std::vector<at::Tensor> tensors{values};
  c10d::BroadcastOptions options;
  options.rootRank = from;
  state_->exchange("broadcast", rank() == from ? static_cast<std::int64_t>(values.nbytes()) : 0,
                   [&] { return state_->group->broadcast(tensors, options); });
}

std::vector<at::Tensor> World::gather(const at::Tensor& own) {
  const at::Tensor lengths = at::zeros({size()}, at::kLong);
  lengths[rank()].fill_(own.size(0));
  sum(lengths);
  const std::int64_t longest = lengths.max().item<std::int64_t>();
  if (longest == 0) return std::vector<at::Tensor>(static_cast<std::size_t>(size()), own);
  std::vector<std::int64_t> shape = own.sizes().vec();
  shape[0] = longest;
  std::vector<at::Tensor> inputs{at::zeros(shape, own.options())};
  inputs[0].narrow(0, 0, own.size(0)).copy_(own);
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int i = 0; i < size(); ++i) outputs[0].push_back(at::empty(shape, own.options()));
  state_->exchange("gather", static_cast<std::int64_t>(inputs[0].nbytes()),
                   [&] { return state_->group->allgather(outputs, inputs); });
  std::vector<at::Tensor> found;
  for (int i = 0; i < size(); ++i) {
    found.push_back(
        outputs[0][static_cast<std::size_t>(i)].narrow(0, 0, lengths[i].item<std::int64_t>()));
  }
  return found;
}

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

void World::fail(const std::string& reason) noexcept {
  if (state_->failure) return;
  const std::string text = state_->name_of(rank()) + ": " + reason;
  state_->failure = text;
  try {
    state_->store->setTimeout(kLastWordsTime);
    const std::string key = state_->prefix + "failure";
    if (!state_->store->check({key})) state_->store->set(key, text);
  } catch (const std::exception&) {  // the store is gone, and the others find out by themselves
  }
  state_->group.reset();
}

}  // namespace pagoda
