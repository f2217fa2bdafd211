#include "sim/boxed_kernel.h"

#include <pagoda/base/error.h>

#include <string_view>

#include <ATen/core/LegacyTypeDispatch.h>

#include "sim/host_view.h"
#include "sim/sim_card.h"
#include "sim/sim_generator.h"
#include "sim/sim_streams.h"

namespace pagoda {
namespace {

/// Calls `visit` with every defined tensor in the value: a tensor, a list of them, or optional
/// ones.
template <class Visit>
void each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& one : value.toListRef()) each_tensor(one, visit);
  }
}

/// The value with every tensor replaced by `change(tensor)`.
template <class Change>
c10::IValue with_tensors(const c10::IValue& value, Change change) {
  if (value.isTensor()) {
    return value.toTensor().defined() ? c10::IValue(change(value.toTensor())) : value;
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& one : value.toTensorVector())
      list.push_back(one.defined() ? change(one) : one);
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& one : value.toOptionalTensorVector()) {
      list.push_back(one && one->defined() ? std::optional<at::Tensor>(change(*one)) : one);
    }
    return list;
  }
  return value;
}

bool takes_host_indices(const c10::OperatorHandle& op) {
  const std::string_view name = op.schema().name();
  return name.starts_with("aten::index") || name.starts_with("aten::_index_put_impl_") ||
         name.starts_with("aten::_unsafe_index");
}

/// The card that all tensors among the arguments lie on. As on other cards, a tensor of one number
/// may lie on the host, and so may indices.
int card_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack, std::size_t first) {
  std::optional<c10::Device> card;
  const auto differs = [&](c10::Device other) {
    return UsageError(op.schema().name() + " was given tensors of " + card->str() + " and " +
                      other.str() + "; move them to one device first");
  };
  for (std::size_t i = first; i < stack.size(); ++i) {
    each_tensor(stack[i], [&](const at::Tensor& tensor) {
      if (!tensor.is_privateuseone()) return;
      if (card && *card != tensor.device()) throw differs(tensor.device());
      card = tensor.device();
    });
  }
  if (!card)
    throw UsageError(op.schema().name() + " on a simulated card was given no tensor of one");
  for (std::size_t i = first; i < stack.size(); ++i) {
    each_tensor(stack[i], [&](const at::Tensor& tensor) {
      if (tensor.is_privateuseone() || tensor.dim() == 0 || takes_host_indices(op)) return;
      throw differs(tensor.device());
    });
  }
  return card->index();
}

/// Something that the host has read off the card.
bool is_number(const c10::IValue& value) {
  return value.isScalar() || value.isBool();
}

c10::IValue generator_for(const c10::IValue& given, int card) {
  return host_generator(given.isNone() ? sim_card(card).generator() : given.toGenerator(), card);
}

}  // namespace

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const std::size_t first = stack->size() - schema.arguments().size();
  const int card = card_of(op, *stack, first);
  sim_card(card).begin_operation();
  const at::AutoDispatchBelowADInplaceOrView without_autograd;

  HostViews views(card);
  SimOperation operation(schema.name(), card);
  std::vector<at::Tensor> written;
  bool sparse = false;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    c10::IValue& value = (*stack)[first + i];
    const bool is_written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    each_tensor(value, [&](const at::Tensor& tensor) {
      if (is_written) written.push_back(tensor);
      is_written ? operation.writes(tensor) : operation.reads(tensor);
    });
    if (value.isDevice() && value.toDevice().is_privateuseone()) value = c10::Device(c10::kCPU);
    if (argument.name() == "generator") value = generator_for(value, card);
    value = with_tensors(value, [&](const at::Tensor& tensor) {
      sparse |= tensor.is_sparse();
      return tensor.is_privateuseone() ? views.view(tensor) : tensor;
    });
  }
  operation.begin();
  const SlowDown slow_down(sim_card(card));  // of computing, not of waiting for late copies
  op.redispatchBoxed(
      c10::DispatchKeySet(sparse ? c10::DispatchKey::SparseCPU : c10::DispatchKey::CPU), stack);

  for (const auto& tensor : written) {
    if (tensor.is_privateuseone()) views.take_changes(tensor);
  }
  for (std::size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i) {
    if (is_number((*stack)[i])) operation.finish();
    (*stack)[i] =
        with_tensors((*stack)[i], [&](const at::Tensor& tensor) { return views.back(tensor); });
    each_tensor((*stack)[i], [&](const at::Tensor& tensor) { operation.made(tensor); });
  }
}

}  // namespace pagoda
