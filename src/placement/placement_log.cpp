#include <pagoda/base/error.h>
#include <pagoda/placement/placement_log.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

namespace pagoda {
namespace {

std::string joined(const std::vector<std::string>& devices) {
  std::string text;
  for (const auto& device : devices) text += (text.empty() ? "" : ", ") + device;
  return text.empty() ? "-" : text;
}

void add_devices(const c10::IValue& value, std::vector<std::string>& devices) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) devices.push_back(value.toTensor().device().str());
  } else if (value.isList()) {
    for (const c10::IValue& one : value.toListRef()) add_devices(one, devices);
  }
}

std::string place_of_this_thread() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  const std::string text = name;
  if (text.starts_with("tower ")) return text;
  return text.starts_with("pt_autograd") ? "backward" : "";
}

/// How many operators this thread is inside of: only the outermost is noted.
thread_local int depth = 0;

/// LibTorch records its walk through the graph like an operator.
bool is_operator(const at::RecordFunction& op) {
  return !std::string_view(op.name()).starts_with("autograd::engine::");
}

/// What is known when an operator begins.
struct Begun : at::ObserverContext {
  std::vector<std::string> inputs;
};

}  // namespace

std::string PlacedOperator::text() const {
  return (where.empty() ? "" : where + ": ") + name + ": " + joined(inputs) + " -> " +
         joined(outputs);
}

struct PlacementLog::Notes {
  std::mutex mutex;
  std::vector<PlacedOperator> operators;  // guarded by mutex
  std::set<std::string> seen;             // guarded by mutex
  at::CallbackHandle callback = 0;

  void add(PlacedOperator op) {
    const std::lock_guard lock(mutex);
    if (seen.insert(op.text()).second) operators.push_back(std::move(op));
  }

  // LibTorch's callbacks are plain functions.
  static std::atomic<Notes*> current;

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& op) {
    if (!is_operator(op)) return nullptr;
    auto begun = std::make_unique<Begun>();
    if (depth++ == 0) {
      for (const c10::IValue& input : op.inputs()) add_devices(input, begun->inputs);
    }
    return begun;
  }

  static void end(const at::RecordFunction& op, at::ObserverContext* context) {
    if (context == nullptr || --depth != 0) return;
    PlacedOperator placed{.where = place_of_this_thread(),
                          .name = op.name(),
                          .inputs = static_cast<Begun*>(context)->inputs,
                          .outputs = {}};
    for (const c10::IValue& output : op.outputs()) add_devices(output, placed.outputs);
    if (placed.inputs.empty() && placed.outputs.empty()) return;
    if (Notes* notes = current) notes->add(std::move(placed));
  }
};

std::atomic<PlacementLog::Notes*> PlacementLog::Notes::current = nullptr;

PlacementLog::PlacementLog() : notes_(std::make_unique<Notes>()) {
  Notes* none = nullptr;
  if (!Notes::current.compare_exchange_strong(none, notes_.get())) {
    throw UsageError("a placement log is being kept already; end it before the next");
  }
  notes_->callback = at::addGlobalCallback(at::RecordFunctionCallback(&Notes::begin, &Notes::end)
                                               .needsInputs(true)
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}));
}

PlacementLog::~PlacementLog() {
  at::removeCallback(notes_->callback);
  Notes::current = nullptr;
}

std::vector<PlacedOperator> PlacementLog::operators() const {
  const std::lock_guard lock(notes_->mutex);
  return notes_->operators;
}

}  // namespace pagoda
