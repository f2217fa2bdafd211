#include "checkpoint/pickle_reader.h"

#include <pagoda/base/error.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "checkpoint/pickle_bytes.h"
#include "checkpoint/pickle_item.h"
#include "checkpoint/pickle_opcodes.h"
#include "checkpoint/pickle_stack.h"

namespace pagoda {
namespace {

/// The machine that a pickle is a program of.
class PickleMachine {
 public:
  PickleMachine(std::string_view pickle, StoredTensors& tensors)
      : pickle_(pickle), stack_(pickle.size()), tensors_(tensors) {}

  PickleValue run() {
    while (!stopped_) step();
    if (!pickle_.at_end()) throw DataError("it goes on after its end");
    return finished(stack_.result());
  }

  /// Of the opcode that is, or was last, at work.
  std::size_t position() const { return position_; }

 private:
  using Op = PickleOpcode;
  using Action = void (*)(PickleMachine&);
  using Actions = std::array<Action, 256>;

  static Actions make_actions();

  void step() {
    static const Actions actions = make_actions();
    position_ = pickle_.position();
    const std::uint64_t opcode = pickle_.little_endian(1);
    if (actions[opcode] == nullptr) {
      char text[8];
      std::snprintf(text, sizeof text, opcode > 0x20 && opcode < 0x7f ? "'%c'" : "0x%02x",
                    static_cast<int>(opcode));
      throw DataError(std::string("the opcode ") + text + " is none that a dict of tensors needs");
    }
    actions[opcode](*this);
  }

  std::size_t index(std::size_t width) { return pickle_.little_endian(width); }
  std::int64_t integer(std::size_t width) {
    return static_cast<std::int64_t>(pickle_.little_endian(width));
  }
  std::string_view text(std::size_t width) { return pickle_.take(pickle_.little_endian(width)); }

  template <class Kind>
  void push(Kind value) {
    stack_.push({.content = PickleValue{std::move(value)}});
  }

  template <class Container>
  void push_empty() {
    stack_.push({.content = PickleValue{Container()}, .depth = 1});
  }

  void push_global(const std::string& module, const std::string& name) {
    stack_.push({.content = PickleGlobal::named(module + "." + name)});
  }

  void read_global() {
    const std::string module = pickle_.line();
    push_global(module, pickle_.line());
  }

  void pop_global() {
    const PickleItem name = stack_.pop();
    const PickleItem module = stack_.pop();
    const auto* name_text = name.value_as<std::string>();
    const auto* module_text = module.value_as<std::string>();
    if (name_text == nullptr || module_text == nullptr) throw DataError("a name is not text");
    push_global(*module_text, *name_text);
  }

  void call() {
    const PickleItem arguments = stack_.pop();
    const PickleItem callee = stack_.pop();
    const auto* tuple = arguments.as<PickleItem::Tuple>();
    const auto* global = callee.as<PickleGlobal>();
    if (tuple == nullptr || global == nullptr || global->kind == PickleGlobal::Kind::storage)
      throw DataError("it calls what is no function of a tensor");
    if (global->kind != PickleGlobal::Kind::ordered_dict)
      return push(made_tensor(global->kind, *tuple));
    if (!tuple->empty()) throw DataError("an OrderedDict has arguments");
    push_empty<PickleValue::Dict>();
  }

  /// Gives a state dict its `_metadata`, which nobody here reads.
  void build() {
    stack_.pop();
    if (stack_.top().value_as<PickleValue::Dict>() == nullptr)
      throw DataError("it gives attributes to what is no OrderedDict");
  }

  static void check_protocol(std::uint64_t protocol) {
    constexpr std::uint64_t kNewest = 5;
    if (protocol > kNewest) {
      throw DataError("it is of protocol " + std::to_string(protocol) + ", newer than " +
                      std::to_string(kNewest));
    }
  }

  PickleBytes pickle_;
  PickleStack stack_;
  StoredTensors& tensors_;
  std::size_t position_ = 0;
  bool stopped_ = false;
};

PickleMachine::Actions PickleMachine::make_actions() {
  using Machine = PickleMachine;
  using Dict = PickleValue::Dict;
  using List = PickleValue::List;
  constexpr std::pair<Op, Action> kActions[] = {
      {Op::none, [](Machine& m) { m.push(PickleValue::None()); }},
      {Op::new_true, [](Machine& m) { m.push(true); }},
      {Op::new_false, [](Machine& m) { m.push(false); }},
      {Op::bin_int, [](Machine& m) { m.push(std::int64_t{static_cast<int>(m.integer(4))}); }},
      {Op::bin_int1, [](Machine& m) { m.push(m.integer(1)); }},
      {Op::bin_int2, [](Machine& m) { m.push(m.integer(2)); }},
      {Op::long1, [](Machine& m) { m.push(m.pickle_.long_integer()); }},
      {Op::bin_float, [](Machine& m) { m.push(m.pickle_.big_endian_double()); }},
      {Op::bin_unicode, [](Machine& m) { m.stack_.push_text(m.text(4)); }},
      {Op::short_bin_unicode, [](Machine& m) { m.stack_.push_text(m.text(1)); }},
      {Op::mark, [](Machine& m) { m.stack_.push_mark(); }},
      {Op::empty_list, [](Machine& m) { m.push_empty<List>(); }},
      {Op::append, [](Machine& m) { m.stack_.append(1); }},
      {Op::appends, [](Machine& m) { m.stack_.append(m.stack_.pop_mark()); }},
      {Op::empty_dict, [](Machine& m) { m.push_empty<Dict>(); }},
      {Op::set_item, [](Machine& m) { m.stack_.set_items(2); }},
      {Op::set_items, [](Machine& m) { m.stack_.set_items(m.stack_.pop_mark()); }},
      {Op::empty_tuple, [](Machine& m) { m.stack_.make_tuple(0); }},
      {Op::tuple, [](Machine& m) { m.stack_.make_tuple(m.stack_.pop_mark()); }},
      {Op::tuple1, [](Machine& m) { m.stack_.make_tuple(1); }},
      {Op::tuple2, [](Machine& m) { m.stack_.make_tuple(2); }},
      {Op::tuple3, [](Machine& m) { m.stack_.make_tuple(3); }},
      {Op::bin_put, [](Machine& m) { m.stack_.remember(m.index(1)); }},
      {Op::long_bin_put, [](Machine& m) { m.stack_.remember(m.index(4)); }},
      {Op::memoize, [](Machine& m) { m.stack_.remember_next(); }},
      {Op::bin_get, [](Machine& m) { m.stack_.recall(m.index(1)); }},
      {Op::long_bin_get, [](Machine& m) { m.stack_.recall(m.index(4)); }},
      {Op::global, [](Machine& m) { m.read_global(); }},
      {Op::stack_global, [](Machine& m) { m.pop_global(); }},
      {Op::bin_pers_id,
       [](Machine& m) { m.stack_.push({named_storage(m.stack_.pop(), m.tensors_)}); }},
      {Op::reduce, [](Machine& m) { m.call(); }},
      {Op::build, [](Machine& m) { m.build(); }},
      {Op::proto, [](Machine& m) { check_protocol(m.index(1)); }},
      {Op::frame, [](Machine& m) { m.pickle_.take(8); }},  // its length: the record has one, too
      {Op::stop, [](Machine& m) { m.stopped_ = true; }},
  };
  Actions actions{};
  for (const auto& [opcode, action] : kActions) actions[static_cast<std::size_t>(opcode)] = action;
  return actions;
}

}  // namespace

PickleValue parse_pickle(std::string_view pickle, StoredTensors& tensors,
                         const std::string& where) {
  PickleMachine machine(pickle, tensors);
  try {
    return machine.run();
  } catch (const DataError& error) {
    throw DataError(where + ", byte " + std::to_string(machine.position()) + ": " + error.what() +
                    "; Pagoda reads dicts of tensors, as torch.save(model.state_dict(), path) "
                    "writes them");
  }
}

}  // namespace pagoda
