#include "seq2seq/seq2seq_presets.h"

namespace pagoda::app {
namespace {

constexpr Preset kSeq2Seq[] = {
    {"builtin", "the built-in pairs, a small model", R"(tokenizer = "words"
vocab-size = 1000
embedding = 64
hidden = 128
dropout = 0.0
label-smoothing = 0.0
lr = 3e-3
schedule = "cosine"
batch-size = 64
epochs = 3
)"},
    {"multi30k", "short sentences of two languages", R"(vocab-size = 8000
joint-vocabulary = true
tied = "all"
embedding = 256
hidden = 256
bidirectional = true
input-feeding = false
dropout = 0.4
label-smoothing = 0.1
lr = 2e-3
schedule = "cosine"
lr-warmup = 400
ema = 0.999
batch-size = 64
epochs = 24
)"},
    {"multi30k-transformer", "the same by a small Transformer", R"(architecture = "transformer"
vocab-size = 8000
joint-vocabulary = true
tied = "all"
hidden = 128
layers = 4
heads = 4
ffn = 256
dropout = 0.3
label-smoothing = 0.1
lr = 3e-3
schedule = "cosine"
lr-warmup = 800
ema = 0.999
batch-tokens = 2000
epochs = 100
)"},
    {"chat", "Chinese dialogue, with --conv", R"(tokenizer = "jieba"
vocab-size = 10000
joint-vocabulary = true
tied = "all"
embedding = 256
hidden = 256
bidirectional = true
dropout = 0.2
lr = 2e-3
schedule = "cosine"
lr-warmup = 200
batch-size = 64
epochs = 10
bleu-pairs = 100
best-by = "perplexity"
)"},
};

}  // namespace

std::span<const Preset> seq2seq_presets() { return kSeq2Seq; }

}  // namespace pagoda::app
