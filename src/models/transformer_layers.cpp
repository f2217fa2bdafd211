// Transformer as a sequence of layers, for a pipeline. What travels from layer to layer: what the
// last one made, the sources' lengths, the targets, and once the decoder has begun the memory.

#include <pagoda/models/transformer.h>

#include <string>
#include <utility>

#include "models/layer_tensors.h"
#include "models/source_mask.h"
#include "models/target_tokens.h"
#include "models/transformer_blocks.h"

namespace pagoda {

Layer TransformerImpl::encoder_layer(std::size_t number) {
  const bool last = number + 1 == encoder_.size();
  Tensors tensors = tensors_of(*encoder_[number]);
  if (number == 0) {
    add_tensors(tensors, tensors_of(*source_embedding()));
    add_tensors(tensors, {source_.learnt});
  }
  if (last && !encoder_norm_.is_empty()) add_tensors(tensors, tensors_of(*encoder_norm_));
  return layer("encoder" + std::to_string(number), std::move(tensors),
               [this, number, last](const Tensors& inputs) -> Tensors {
                 const at::Tensor mask = source_mask(inputs.at(1), inputs.at(0));
                 const at::Tensor x = number == 0 ? embedded_source(inputs.at(0)) : inputs.at(0);
                 const at::Tensor made = encoder_[number]->forward(x, mask);
                 return {last ? encoder_end(made) : made, inputs.at(1), inputs.at(2)};
               });
}

Layer TransformerImpl::decoder_layer(std::size_t number) {
  Tensors tensors = tensors_of(*decoder_[number]);
  if (number == 0) {
    add_tensors(tensors, tensors_of(*target_embedding()));
    add_tensors(tensors, {target_.learnt});
  }
  return layer(
      "decoder" + std::to_string(number), std::move(tensors),
      [this, number](const Tensors& inputs) -> Tensors {
        const at::Tensor memory = number == 0 ? inputs.at(0) : inputs.at(3);
        const at::Tensor x =
            number == 0 ? embedded_target(target_tokens(inputs.at(2)).inputs, 0) : inputs.at(0);
        const at::Tensor mask = source_mask(inputs.at(1), memory);
        return {decoder_[number]->forward(x, memory, mask), inputs.at(1), inputs.at(2), memory};
      });
}

Layer TransformerImpl::output_layer() {
  Tensors tensors = own_output_tensors();
  if (!decoder_norm_.is_empty()) add_tensors(tensors, tensors_of(*decoder_norm_));
  return layer("output", std::move(tensors), [this](const Tensors& inputs) {
    return counted_places(decoder_end(inputs.at(0)), target_tokens(inputs.at(2)).labels);
  });
}

Layer TransformerImpl::whole_decoder() {
  Tensors tensors = tensors_of(*target_embedding());
  add_tensors(tensors, {target_.learnt});
  for (const auto& block : decoder_) add_tensors(tensors, tensors_of(*block));
  if (!decoder_norm_.is_empty()) add_tensors(tensors, tensors_of(*decoder_norm_));
  add_tensors(tensors, own_output_tensors());
  return layer("decoder", std::move(tensors), [this](const Tensors& inputs) {
    return decoded(inputs.at(0), inputs.at(1), inputs.at(2));
  });
}

std::vector<Layer> TransformerImpl::layers() {
  if (options_.tied == TiedEmbeddings::all) {
    return {layer("all", tensors_of(*this), [this](const Tensors& inputs) {
      return outputs(inputs.at(0), inputs.at(1), inputs.at(2));
    })};
  }
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < encoder_.size(); ++i) layers.push_back(encoder_layer(i));
  if (options_.tied == TiedEmbeddings::output) {
    layers.push_back(whole_decoder());
    return layers;
  }
  for (std::size_t i = 0; i < decoder_.size(); ++i) layers.push_back(decoder_layer(i));
  layers.push_back(output_layer());
  return layers;
}

}  // namespace pagoda
