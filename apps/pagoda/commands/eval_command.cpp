#include <pagoda/base/json.h>
#include <pagoda/cli/config_file.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/terminal/text_table.h>

#include <cstdio>

#include "commands/commands.h"
#include "image/image_test.h"
#include "image/lenet5_task.h"
#include "run/stored_run.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

struct EvalFlags {
  StoredRunFlags run;
  DeviceChoice devices;
  std::string data;
  bool json = false;
};

std::string percent(double part) { return grouped(100 * part, 2) + " %"; }

void print_json(const StoredRun& run, const ImageTest& test,
                const std::vector<std::string>& classes) {
  JsonWriter json;
  json.begin_object().key("step").value(run.checkpoint.state.step);
  json.key("weights").value(run.averaged ? "averaged" : "raw");
  json.key("samples").value(test.total()).key("loss").value(test.loss);
  json.key("accuracy").value(test.accuracy()).key("classes").values(classes);
  json.key("class_accuracy").begin_array();
  for (int c = 0; c < kImageClasses; ++c) json.value(test.class_accuracy(c));
  json.end_array().key("confusion").begin_array();
  for (const auto& row : test.confusion) {
    json.values(std::vector<std::int64_t>(row.begin(), row.end()));
  }
  json.end_array().end_object();
  std::puts(json.text().c_str());
}

void print_tables(const StoredRun& run, const ImageTest& test,
                  const std::vector<std::string>& classes) {
  std::printf("%s: accuracy %s, loss %.4f on %s\n\n", run.weights_text().c_str(),
              percent(test.accuracy()).c_str(), test.loss, counted(test.total(), "image").c_str());
  std::vector<std::vector<std::string>> rows{{"class", "images", "accuracy"}};
  for (const auto& name : classes) rows.front().push_back(name);
  for (int c = 0; c < kImageClasses; ++c) {
    const auto& counts = test.confusion[static_cast<std::size_t>(c)];
    rows.push_back({classes[static_cast<std::size_t>(c)], std::to_string(test.class_total(c)),
                    test.class_total(c) > 0 ? percent(test.class_accuracy(c)) : "-"});
    for (const std::int64_t count : counts) rows.back().push_back(std::to_string(count));
  }
  std::printf("%s\nThe last columns say what the images of each class were taken for.\n",
              text_table(rows).c_str());
}

int eval(const EvalFlags& flags) {
  const StoredRun run = open_run(flags.run);
  expect_model(run, flags.run, "lenet5");
  const std::string data =
      flags.data.empty() ? config_value(run.checkpoint.config, "data").value_or("") : flags.data;
  const ImageTask images = load_images(data, run.checkpoint.seed);
  const WarnedDevices devices(flags.devices);
  auto towers = make_towers(devices.list(), [] { return LeNet5(); });
  load_weights(run, flags.run, towers);
  const ImageTest test = test_images(towers, *images.test);
  flags.json ? print_json(run, test, images.classes) : print_tables(run, test, images.classes);
  return 0;
}

}  // namespace

void add_eval_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = program.add_subcommand(
      "eval", "Test a run's weights: accuracy by class and what was taken for what");
  add_stored_run_flags(*command, flags->run);
  command->add_option("--data", flags->data,
                      "builtin, or a directory with CIFAR-10's binary files (default: the run's)");
  command->add_flag("--json", flags->json, "print a JSON object instead of tables");
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return eval(*flags); }; });
}

}  // namespace pagoda::app
