#include "seq2seq/network.h"

namespace pagoda::app {
namespace {

SequenceModelPtr made(const Seq2SeqOptions& options) {
  return std::make_shared<Seq2SeqImpl>(options);
}

SequenceModelPtr made(const TransformerOptions& options) {
  return std::make_shared<TransformerImpl>(options);
}

}  // namespace

SequenceModelPtr make_network(const NetworkOptions& options) {
  return std::visit([](const auto& one) { return made(one); }, options);
}

}  // namespace pagoda::app
