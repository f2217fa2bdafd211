// How fast an exported model runs: benchmarks/peers/compare_programs.py alternates it with Python.
//
//   benchmark_exported_model FILE.pt2 --rows 32 --steps 20     serves rounds, for lines on stdin:
//     one         forward and backward in one thread
//     towers      steps of Adam on two towers of one core each, --rows for each
//     contiguous  the same without the layout that towers choose for images
//   benchmark_exported_model --calls     what a call costs beside a direct one, once
//
// Rows are drawn at random: images of the first input's sizes, classes 0 to 9 for a second one.

#include <pagoda/pagoda.h>
#include <pagoda/program/program_summary.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include <torch/torch.h>

#include "bench/median.h"
#include "program/instructions.h"
#include "program/operator_table.h"
#include "program/program_block.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Rows {
  at::Tensor x;
  at::Tensor y;
  double weight() const { return static_cast<double>(x.size(0)); }
  std::vector<std::int64_t> sample_numbers() const { return {}; }
  template <class Change>
  Rows with_tensors(Change change) const {
    return {change(x), change(y)};
  }
};

std::vector<Rows> drawn_rows(std::int64_t rows, std::int64_t size, int count) {
  std::vector<Rows> all;
  for (int i = 0; i < count; ++i)
    all.push_back({torch::randn({rows, 3, size, size}), torch::randint(10, {rows}, at::kLong)});
  return all;
}

/// Samples per second of forward and backward.
double run_one(pagoda::ExportedModel& model, const std::vector<Rows>& rows, int steps) {
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) {
    const Rows& own = rows[static_cast<std::size_t>(i) % rows.size()];
    model->zero_grad();
    model(own.x, own.y)[0].backward();
  }
  return static_cast<double>(steps) * rows[0].weight() / seconds_since(start);
}

template <class Step>
double run_towers(Step& step, const std::vector<Rows>& rows, int steps) {
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) {
    const std::vector<Rows> feeds{rows[static_cast<std::size_t>(2 * i) % rows.size()],
                                  rows[static_cast<std::size_t>(2 * i + 1) % rows.size()]};
    step.run(feeds,
             [](pagoda::ExportedModel& model, const Rows& own) { return model(own.x, own.y)[0]; });
  }
  return static_cast<double>(steps) * 2 * rows[0].weight() / seconds_since(start);
}

/// A program of as many additions to a small tensor, beside the same calls of `at::`.
void measure_calls() {
  constexpr int kCalls = 1000;
  constexpr int kRounds = 401;
  const auto found = pagoda::OperatorTable({}).find("torch.ops.aten.add.Tensor");
  std::vector<std::unique_ptr<pagoda::Instruction>> instructions;
  for (int i = 0; i < kCalls; ++i) {
    auto call = std::make_unique<pagoda::OperatorCall>(*found.handle);
    call->operands = {{.source = pagoda::Operand::Source::slot, .slot = i + 1},
                      {.source = pagoda::Operand::Source::slot, .slot = 0},
                      {.constant = 1}};
    call->results = {{.slot = i + 2}};
    instructions.push_back(std::move(call));
  }
  const pagoda::ProgramBlock block(kCalls + 2, std::move(instructions),
                                   {{.source = pagoda::Operand::Source::slot, .slot = kCalls + 1}});
  const at::Tensor small = at::ones({4});
  std::vector<double> program;
  std::vector<double> direct;
  for (int round = 0; round < kRounds; ++round) {
    auto start = Clock::now();
    block.run({small, small}, at::kCPU);
    program.push_back(seconds_since(start));
    start = Clock::now();
    at::Tensor sum = small;
    for (int i = 0; i < kCalls; ++i) sum = at::add(sum, small);
    direct.push_back(seconds_since(start));
  }
  const double scale = 1e6 / kCalls;
  std::printf("a call of a program: %.3f us, a direct one: %.3f us, more: %.3f us\n",
              pagoda::app::median(program) * scale, pagoda::app::median(direct) * scale,
              (pagoda::app::median(program) - pagoda::app::median(direct)) * scale);
}

int number_after(int argc, char** argv, const char* flag, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], flag) == 0) return std::atoi(argv[i + 1]);
  }
  return otherwise;
}

void serve(const char* file, int argc, char** argv) {
  const int rows = number_after(argc, argv, "--rows", 32);
  const int steps = number_after(argc, argv, "--steps", 20);
  const std::vector<Rows> drawn = drawn_rows(rows, number_after(argc, argv, "--size", 32), 4);
  at::set_num_threads(1);
  const pagoda::ExportedProgram program(file);
  const auto make = [program] { return pagoda::ExportedModel(program); };
  pagoda::ExportedModel one(program);
  const auto devices = pagoda::select_devices("2");
  auto towers = pagoda::make_towers(devices, make);
  auto contiguous =
      pagoda::make_towers(devices, make, {.image_format = pagoda::ImageFormat::contiguous});
  pagoda::SyncStep step(towers, pagoda::Adam{});
  pagoda::SyncStep contiguous_step(contiguous, pagoda::Adam{});
  for (std::string line; std::getline(std::cin, line);) {
    const auto round = [&](int count) {
      if (line == "one") return run_one(one, drawn, count);
      return run_towers(line == "contiguous" ? contiguous_step : step, drawn, count);
    };
    round(2);  // fills the caches again after another program's round
    std::printf("{\"samples_per_second\": %.3f}\n", round(steps));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("benchmark_exported_model FILE.pt2 | --calls\n", stderr);
    return 2;
  }
  if (std::strcmp(argv[1], "--calls") == 0)
    measure_calls();
  else
    serve(argv[1], argc, argv);
}
