#include "train/row_exchange.h"

#include <algorithm>
#include <utility>

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/empty.h>

#include "optim/combined_gradient.h"
#include "params/block_plan.h"
#include "reduce/combine.h"

namespace pagoda {
namespace {

using Form = ParameterGradient::Form;

/// The rows of one parameter in a message.
struct RowPart {
  at::Tensor numbers;  // 32 bits each
  at::Tensor values;   // as they travel
};

/// Takes the parts of a message of bytes one after the other; without a message it counts its bytes.
class RowMessage {
 public:
  explicit RowMessage(at::Tensor message = {}) : message_(std::move(message)) {}

  RowPart next(const at::Tensor& parameter, const Wire& wire, std::int64_t rows) {
    at::Tensor numbers = piece(at::kInt, rows);
    return {std::move(numbers), piece(wire.type(), wire.elements(rows * row_elements(parameter)))};
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  at::Tensor piece(at::ScalarType type, std::int64_t elements) {
    const auto size = elements * static_cast<std::int64_t>(c10::elementSize(type));
    const std::int64_t begin = bytes_;
    bytes_ += (size + 7) / 8 * 8;  // every type may begin there
    return message_.defined() ? message_.narrow(0, begin, size).view(type) : at::Tensor();
  }

  const at::Tensor message_;
  std::int64_t bytes_ = 0;
};

/// Room for the rows that a rank sends.
at::Tensor room_for(const std::vector<NamedTensor>& parameters, WireType wire,
                    const RowExchange::Counts& counts, std::size_t rank) {
  RowMessage message;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i].tensor;
    if (!counts[i].empty())
      message.next(parameter, Wire(wire, parameter.scalar_type()), counts[i][rank]);
  }
  return at::empty({message.bytes()}, at::kByte);
}

/// One rank's rows as a gradient; undefined without any.
at::Tensor sparse_gradient(const at::Tensor& parameter, const Wire& wire, const RowPart& part) {
  if (part.numbers.numel() == 0) return {};
  std::vector<std::int64_t> shape = parameter.sizes().vec();
  shape[0] = part.numbers.numel();
  return at::_sparse_coo_tensor_unsafe(part.numbers.to(at::kLong).unsqueeze(0),
                                       wire.decoded(part.values).view(shape), parameter.sizes())
      ._coalesced_(true);
}

}  // namespace

RowExchange::RowExchange(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters,
                         WireType wire, std::vector<at::Tensor> lost)
    : world_(std::move(world)), parameters_(parameters), wire_(wire), lost_(std::move(lost)) {}

void RowExchange::run(const GradientView& own, const std::vector<double>& weights,
                      const Counts& counts, GradientView& all) {
  std::vector<at::Tensor> messages;
  std::vector<RowMessage> readers;
  for (int rank = 0; rank < world_->size(); ++rank) {
    messages.push_back(room_for(parameters_, wire_, counts, static_cast<std::size_t>(rank)));
    readers.emplace_back(messages.back());
  }
  const auto here = static_cast<std::size_t>(world_->rank());
  std::vector<std::vector<RowPart>> parts(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (counts[i].empty()) continue;
    const Wire wire(wire_, parameters_[i].tensor.scalar_type());
    for (std::size_t rank = 0; rank < readers.size(); ++rank)
      parts[i].push_back(readers[rank].next(parameters_[i].tensor, wire, counts[i][rank]));
    if (counts[i][here] > 0) write(i, own, weights, parts[i][here].numbers, parts[i][here].values);
  }
  world_->swap(std::vector<at::Tensor>(messages.size(), messages[here]), messages);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (counts[i].empty()) continue;
    const at::Tensor parameter = parameters_[i].tensor.detach();
    std::vector<at::Tensor> ranks;
    for (const RowPart& part : parts[i])
      ranks.push_back(sparse_gradient(parameter, Wire(wire_, parameter.scalar_type()), part));
    all.parameters[i] = combine(parameter, std::move(ranks));
  }
}

void RowExchange::write(std::size_t parameter, const GradientView& own,
                        const std::vector<double>& weights, const at::Tensor& numbers,
                        const at::Tensor& values) {
  const at::Tensor tensor = parameters_[parameter].tensor.detach();
  const std::int64_t length = row_elements(tensor);
  const CombinedRows rows = combined_rows(own.parameters[parameter], weights, length,
                                          {0, tensor.numel()}, tensor.scalar_type());
  numbers.copy_(rows.numbers);
  const Wire wire(wire_, tensor.scalar_type());
  if (wire.is_plain()) {
    values.copy_(rows.values.view({-1}));
    return;
  }
  const at::Tensor lost = lost_[parameter].view({-1, length});
  const at::Tensor kept = lost.index_select(0, rows.numbers).view({-1});
  wire.encode(rows.values.view({-1}), kept, values);
  lost.index_copy_(0, rows.numbers, kept.view({-1, length}));
}

}  // namespace pagoda
