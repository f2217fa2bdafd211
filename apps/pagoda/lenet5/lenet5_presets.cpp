#include "lenet5/lenet5_presets.h"

namespace pagoda::app {
namespace {

constexpr Preset kLeNet5[] = {
    {"tutorial", "20 epochs, Adam with decay and L2", R"(epochs = 20
batch-size = 64
optimizer = "adam"
lr = 1e-3
schedule = "exponential"
l2 = 1e-4
ema = 0.99
)"},
    {"best", "40 epochs, dropout and a cosine schedule", R"(epochs = 40
batch-size = 64
optimizer = "adam"
lr = 1.5e-3
schedule = "cosine"
lr-warmup = 200
l2 = 1e-4
ema = 0.999
dropout = 0.4
)"},
};

}  // namespace

std::span<const Preset> lenet5_presets() { return kLeNet5; }

}  // namespace pagoda::app
