#include "seq2seq/attention_output.h"

namespace pagoda::app {

Picture attention_picture(const at::Tensor& weights) {
  constexpr std::int64_t kSquare = 16;  // pixels
  const at::Tensor bytes = (weights.cpu().to(at::kFloat) * 255).round().clamp(0, 255).to(at::kByte);
  const at::Tensor squares = bytes.repeat_interleave(kSquare, 0).repeat_interleave(kSquare, 1);
  return picture_of(squares.unsqueeze(0).expand({3, squares.size(0), squares.size(1)}));
}

void write_attention(JsonWriter& json, const Translation& translation) {
  const AttentionWeights attention = translation.attention.value_or(AttentionWeights{});
  json.begin_object().key("source").values(attention.source);
  json.key("target").values(attention.target).key("weights").begin_array();
  if (attention.weights.defined()) {
    const at::Tensor weights = attention.weights.to(at::kDouble).contiguous();
    for (std::int64_t row = 0; row < weights.size(0); ++row) {
      const auto* begin = weights.const_data_ptr<double>() + row * weights.size(1);
      json.values(std::vector<double>(begin, begin + weights.size(1)));
    }
  }
  json.end_array().end_object();
}

std::string attention_json(const Translation& translation) {
  JsonWriter json;
  write_attention(json, translation);
  return json.text();
}

}  // namespace pagoda::app
