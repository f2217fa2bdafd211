// Seq2Seq as a sequence of layers, for a pipeline.

#include <pagoda/models/seq2seq.h>

#include <string>
#include <utility>

#include "models/layer_tensors.h"
#include "models/seq2seq_state.h"
#include "models/target_tokens.h"

namespace pagoda {
namespace {

/// What travels from layer to layer: what the last one made, what the decoder needs later, and the
/// encoder's states that no layer of the decoder has taken yet.
struct Travelling {
  at::Tensor x;        ///< of the layer before
  at::Tensor lengths;  ///< of the sources
  at::Tensor target;
  at::Tensor memory = {};  ///< the encoder's outputs, once the decoder has begun
  std::vector<RnnState> states = {};

  Tensors packed() const {
    Tensors tensors{x, lengths, target};
    if (memory.defined()) tensors.push_back(memory);
    for (const auto& [hidden, cell] : states) {
      tensors.push_back(hidden);
      if (cell.defined()) tensors.push_back(cell);
    }
    return tensors;
  }
};

enum class Memory { no, yes };

Travelling unpacked(const Tensors& tensors, Memory memory, Cell cell) {
  Travelling all{.x = tensors.at(0), .lengths = tensors.at(1), .target = tensors.at(2)};
  std::size_t next = 3;
  if (memory == Memory::yes) all.memory = tensors.at(next++);
  while (next < tensors.size()) {
    RnnState& state = all.states.emplace_back(RnnState{tensors[next++], {}});
    if (cell == Cell::lstm) state.cell = tensors.at(next++);
  }
  return all;
}

}  // namespace

void Seq2SeqImpl::add_encoder_layers(std::vector<Layer>& layers) {
  for (std::size_t i = 0; i < encoder_.size(); ++i) {
    Tensors tensors = tensors_of(*encoder_[i]);
    if (i == 0) add_tensors(tensors, tensors_of(*source_embedding()));
    if (options_.bidirectional) add_tensors(tensors, tensors_of(*encoder_back_[i]));
    layers.push_back(
        layer("encoder" + std::to_string(i), std::move(tensors), [this, i](const Tensors& inputs) {
          Travelling all = unpacked(inputs, Memory::no, options_.cell);
          if (i == 0) all.x = all.x.t();
          const RnnResult result = encoder_layer(i, all.x, all.lengths);
          all.x = result.outputs;
          all.states.push_back(result.last);
          return all.packed();
        }));
  }
}

void Seq2SeqImpl::add_decoder_layers(std::vector<Layer>& layers) {
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    Tensors tensors = tensors_of(*decoder_[i]);
    if (i == 0) add_tensors(tensors, tensors_of(*target_embedding()));
    layers.push_back(
        layer("decoder" + std::to_string(i), std::move(tensors), [this, i](const Tensors& inputs) {
          Travelling all = unpacked(inputs, i == 0 ? Memory::no : Memory::yes, options_.cell);
          const TargetTokens target = target_tokens(all.target);
          if (i == 0) {
            all.memory = all.x;
            all.x = target_embedding()(target.inputs.t());
          }
          all.x = decoder_[i](dropout_(all.x), target.lengths, all.states.at(0)).outputs;
          all.states.erase(all.states.begin());
          return all.packed();
        }));
  }
  Tensors tensors = tensors_of(*attention_, *combine_);
  add_tensors(tensors, own_output_tensors());
  layers.push_back(layer("output", std::move(tensors), [this](const Tensors& inputs) {
    const Travelling all = unpacked(inputs, Memory::yes, options_.cell);
    const at::Tensor outputs =
        attend(all.x.transpose(0, 1), encoded(all.memory, all.lengths), nullptr);
    return counted_places(outputs, target_tokens(all.target).labels);
  }));
}

std::vector<Layer> Seq2SeqImpl::layers() {
  if (options_.tied == TiedEmbeddings::all) {
    return {layer("all", tensors_of(*this), [this](const Tensors& inputs) {
      return outputs(inputs.at(0), inputs.at(1), inputs.at(2));
    })};
  }
  std::vector<Layer> layers;
  add_encoder_layers(layers);
  if (options_.tied == TiedEmbeddings::none && !options_.input_feeding) {
    add_decoder_layers(layers);
    return layers;
  }
  Tensors tensors = tensors_of(*target_embedding(), *attention_, *combine_);
  for (const auto& decoder : decoder_) add_tensors(tensors, tensors_of(*decoder));
  add_tensors(tensors, own_output_tensors());
  layers.push_back(layer("decoder", std::move(tensors), [this](const Tensors& inputs) {
    Travelling all = unpacked(inputs, Memory::no, options_.cell);
    EncodedSources sources = encoded(all.x, all.lengths);
    sources.states = std::move(all.states);
    return decoded(begin(std::move(sources)), all.target);
  }));
  return layers;
}

}  // namespace pagoda
