#include "mlp/mlp_model.h"

#include <pagoda/cli/flag_adder.h>

#include "mlp/equal_layers.h"
#include "model/made_up_measuring.h"

namespace pagoda::app {
namespace {

class MlpMeasuring : public MadeUpMeasuring<EqualLayers, Batch> {
 public:
  void add_flags(CLI::App& command) override {
    FlagAdder add(command, "Model");
    add.option("--layers", layers_, "layers of the model")->check(whole_number(1, 1000));
    add.count("--width", width_, "units of a layer");
  }

 private:
  MadeUpTask<EqualLayers, Batch> task() const override {
    return {.model = [layers = layers_, width = width_](
                         double dropout) { return EqualLayers(layers, width, dropout); },
            .feed = [width = width_](
                        std::int64_t samples, std::int64_t,
                        at::Generator& random) { return random_vectors(samples, width, random); },
            .join = join_batches,
            .score =
                [](EqualLayers& model, const Batch& batch) {
                  return Scored{.loss = squared_error(model(batch.input), batch)};
                },
            .inputs = [](const Batch& batch) { return Tensors{batch.input}; },
            .score_outputs =
                [](EqualLayers&, const Tensors& outputs, const Batch& batch) {
                  return Scored{.loss = squared_error(outputs[0], batch)};
                }};
  }

  int layers_ = 4;
  std::int64_t width_ = 512;
};

}  // namespace

KnownModel mlp_model() {
  return {.name = "mlp", .about = "Equal layers, as many and as wide as you like", .measuring = [] {
            return std::make_unique<MlpMeasuring>();
          }};
}

}  // namespace pagoda::app
