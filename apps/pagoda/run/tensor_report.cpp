#include "run/tensor_report.h"

#include <pagoda/base/number_text.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace pagoda::app {
namespace {

/// A name from a file, on one line whatever it holds.
std::string one_line(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return name;
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

std::string number(std::int64_t value) { return grouped(static_cast<double>(value)); }

std::string state_text(const RunState& state) {
  std::string text = "step " + number(state.step) + ", " +
                     counted(state.position.consumed, "sample") + " into epoch " +
                     number(state.position.epoch + 1) + ", " + grouped(state.samples) +
                     " samples in all";
  if (state.best)
    text += "; best " + number_text(*state.best) + " at step " + number(state.best_step);
  return text;
}

std::string indented(const std::string& lines) {
  std::string text;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string totals_text(const std::vector<NamedTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return counted(std::ssize(tensors), "tensor") + ", " + number(element_count(tensors)) +
         " numbers, " + bytes_text(bytes);
}

std::string tensor_table_text(const std::vector<NamedTensor>& tensors) {
  if (tensors.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"name", "type", "shape", "bytes"}};
  for (const auto& [name, tensor] : tensors) {
    rows.push_back({one_line(name), std::string(c10::getDtypeNames(tensor.scalar_type()).first),
                    shape_text(tensor), number(static_cast<std::int64_t>(tensor.nbytes()))});
  }
  return text_table(rows);
}

std::string weights_report(const WeightsFile& file) {
  std::string text = totals_text(file.tensors) + "\n";
  for (const auto& [key, value] : file.metadata)
    text += one_line(key) + " = " + one_line(value) + "\n";
  return text + tensor_table_text(file.tensors);
}

std::string checkpoint_report(const Checkpoint& checkpoint) {
  std::string text = state_text(checkpoint.state) + "; " + counted(checkpoint.towers, "tower") +
                     ", seed " + std::to_string(checkpoint.seed) + "\n";
  text += "model: " + totals_text(checkpoint.model) + "\n";
  text += tensor_table_text(checkpoint.model);
  if (!checkpoint.average.empty())
    text += "moving average: " + totals_text(checkpoint.average) + "\n";
  if (!checkpoint.optimizer.empty())
    text += "optimizer: " + totals_text(checkpoint.optimizer) + "\n";
  if (checkpoint.torch_optimizer.defined())
    text += "optimizer: " + bytes_text(checkpoint.torch_optimizer.numel()) + " of LibTorch's own\n";
  if (!checkpoint.config.empty()) text += "configuration:\n" + indented(checkpoint.config);
  return text;
}

}  // namespace pagoda::app
