// A whole run of a model of your own. Model, data, loss and `main` are all there is to write: the
// program has the flags of `pagoda train` (try --help), resumes after any stop, validates, stops
// early, and writes checkpoints, logs and TensorBoard's files:
//
//     example_own_run --out runs/spiral --epochs 30 --optimizer adamw --lr 3e-3 --ema 0.99 --arms 4
#include <pagoda/cli/run_program.h>
#include <pagoda/run/run.h>

#include <torch/torch.h>

struct SpiralNetImpl : torch::nn::Module {
  explicit SpiralNetImpl(int arms)
      : hidden(register_module("hidden", torch::nn::Linear(2, 64))),
        second(register_module("second", torch::nn::Linear(64, 64))),
        dropout(register_module("dropout", torch::nn::Dropout(0.05))),
        output(register_module("output", torch::nn::Linear(64, arms))) {}

  torch::Tensor forward(const torch::Tensor& points) {
    return output(dropout(torch::tanh(second(torch::tanh(hidden(points))))));
  }
  torch::nn::Linear hidden, second;
  torch::nn::Dropout dropout;
  torch::nn::Linear output;
};
TORCH_MODULE(SpiralNet);

/// Points on the arms of a spiral; `shift` moves them along, so that other points come out.
pagoda::TensorDataset spiral(int arms, int count, double shift) {
  const torch::Tensor arm = torch::arange(count) % arms;
  const torch::Tensor radius = (torch::arange(count) + shift) / count;
  const torch::Tensor angle = 4 * radius + arm * (2 * M_PI / arms);
  const torch::Tensor points = torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
  return pagoda::TensorDataset(points.to(torch::kFloat), arm);
}

pagoda::Scored score(SpiralNet& model, const pagoda::Batch& batch) {
  const torch::Tensor logits = model(batch.input);
  const torch::Tensor right = logits.argmax(1).eq(batch.target).to(torch::kDouble).mean();
  return {.loss = torch::nn::functional::cross_entropy(logits, batch.target),
          .metrics = {{"accuracy", right}}};
}

int main(int argc, char** argv) {
  int arms = 3;
  pagoda::RunProgram program({.name = "spiral", .about = "Tells the arms of a spiral apart."});
  program.flags().add_option("--arms", arms, "of the spiral")->capture_default_str();
  return program.main(argc, argv, [&](const pagoda::RunOptions& options) {
    pagoda::Run run(options, [arms] { return SpiralNet(arms); });
    run.watch("accuracy", pagoda::Better::more);
    return run.train(spiral(arms, 3'000, 0), spiral(arms, 600, 0.5), score);
  });
}
