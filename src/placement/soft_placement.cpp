#include <pagoda/base/error.h>
#include <pagoda/device/device_list.h>
#include <pagoda/placement/soft_placement.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

namespace pagoda {

struct SoftPlacement::State {
  const Mode mode;
  const std::function<void(const std::string&)> report;
  std::mutex mutex = {};
  std::set<std::string> reported = {};  // guarded by mutex

  void report_once(const std::string& line) {
    const std::lock_guard lock(mutex);
    if (reported.insert(line).second) report(line);
  }

  // LibTorch's kernels are plain functions, so they have to find the decision here.
  static std::atomic<State*> current;

  /// The kernel of every operator that has none on a kind of card.
  static void run_elsewhere(const c10::OperatorHandle& op, torch::jit::Stack* stack);
  static void register_once();
};

std::atomic<SoftPlacement::State*> SoftPlacement::State::current = nullptr;

namespace {

std::mutex libraries_mutex;
// For the rest of the process: LibTorch may use them until its own end. Guarded by the mutex.
std::vector<torch::Library>* libraries = nullptr;

void print_to_stderr(const std::string& line) {
  std::fprintf(stderr, "pagoda: %s\n", line.c_str());
}

std::string full_name(const c10::OperatorHandle& op) {
  const auto& name = op.operator_name();
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

/// Calls `visit` with every defined tensor among the operator's arguments.
template <class Visit>
void each_argument(const c10::OperatorHandle& op, const torch::jit::Stack& stack, Visit visit) {
  const auto visit_value = [&](const c10::IValue& value, const auto& self) -> void {
    if (value.isTensor()) {
      if (value.toTensor().defined()) visit(value.toTensor());
    } else if (value.isList()) {
      for (const c10::IValue& one : value.toListRef()) self(one, self);
    }
  };
  for (std::size_t i = stack.size() - op.schema().arguments().size(); i < stack.size(); ++i) {
    visit_value(stack[i], visit_value);
  }
}

/// The card that the operator was placed on. LibTorch's fallback to the CPU would mix devices
/// without a word, so that has to be refused here.
c10::Device card_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  std::optional<c10::Device> card;
  each_argument(op, stack, [&](const at::Tensor& tensor) {
    if (tensor.is_cpu()) return;
    if (card && *card != tensor.device()) {
      throw UsageError(full_name(op) + " was given tensors of " + card->str() + " and " +
                       tensor.device().str() + "; move them to one device first");
    }
    card = tensor.device();
  });
  return card.value_or(c10::kCPU);
}

}  // namespace

void SoftPlacement::State::run_elsewhere(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::Device card = card_of(op, *stack);
  State* state = current;
  if (state == nullptr || state->mode == Mode::off) {
    throw DeviceError(full_name(op) + " has no kernel on " + card.str() +
                      "; turn soft placement on to run it on the CPU");
  }
  state->report_once(full_name(op) + " has no kernel on " + card.str() + " and runs on the CPU");
  at::native::cpu_fallback(op, stack);
}

void SoftPlacement::State::register_once() {
  const std::lock_guard lock(libraries_mutex);
  if (libraries != nullptr) return;
  auto all = std::make_unique<std::vector<torch::Library>>();
  all->reserve(2);
  for (const auto key : {c10::DispatchKey::CUDA, c10::DispatchKey::PrivateUse1}) {
    all->emplace_back(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
    all->back().fallback(torch::CppFunction::makeFromBoxedFunction<&State::run_elsewhere>());
  }
  libraries = all.release();
}

SoftPlacement::SoftPlacement(Mode mode, std::function<void(const std::string&)> report)
    : state_(new State{mode, report ? std::move(report) : print_to_stderr}) {
  State* none = nullptr;
  if (!State::current.compare_exchange_strong(none, state_.get())) {
    throw UsageError("soft placement is decided already; end the other decision first");
  }
  State::register_once();
}

SoftPlacement::~SoftPlacement() { State::current = nullptr; }

Device SoftPlacement::device(std::string_view name) {
  const auto wanted = named_devices(name);
  if (wanted.size() != 1) {
    throw UsageError("'" + std::string(name) + "' names " + std::to_string(wanted.size()) +
                     " devices; name one, such as sim:2");
  }
  if (auto found = find_device(wanted[0])) return *found;
  if (state_->mode == Mode::off) {
    throw UsageError(
        "device " + wanted[0].label() +
        " is not there (list_devices gives those that are); turn soft placement on to use another");
  }
  return replacement(wanted[0]);
}

std::vector<Device> SoftPlacement::devices(std::string_view text, const DeviceOptions& options) {
  const bool is_list = text.find(':') != std::string_view::npos;
  try {
    return select_devices(text, options);
  } catch (const UsageError&) {
    if (state_->mode == Mode::off || !(is_list || text == "cuda")) throw;
  }
  if (!is_list) {
    state_->report_once("no CUDA card is there; the CPU stands in");
    return select_devices("cpu", options);
  }
  std::vector<std::string> labels;
  for (const Device& wanted : named_devices(text)) {
    const bool is_there = wanted.kind == DeviceKind::cpu || find_device(wanted, options);
    const std::string label = (is_there ? wanted : replacement(wanted)).label();
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  std::string list;
  for (const auto& label : labels) list += (list.empty() ? "" : ",") + label;
  if (list.starts_with("sim:") && labels.size() == 1) list += "-" + list.substr(4);  // not a count
  return select_devices(list, options);
}

/// The first visible device of its kind, or the CPU.
Device SoftPlacement::replacement(const Device& missing) {
  Device first = missing;
  first.index = 0;
  auto instead = find_device(first);
  if (!instead) instead = select_devices("cpu").front();
  state_->report_once("device " + missing.label() + " is not there; " + instead->label() +
                      " stands in");
  return *instead;
}

}  // namespace pagoda
