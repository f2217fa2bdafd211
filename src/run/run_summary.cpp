#include <pagoda/base/json.h>
#include <pagoda/run/device_choice.h>
#include <pagoda/run/run_summary.h>
#include <pagoda/terminal/text_table.h>

#include <cstdio>

namespace pagoda {
namespace {

std::string fixed(double value, const char* format = "%.4f") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::string summary_text(const RunSummary& summary) {
  std::string text = std::string(summary.end) + ": " + counted(summary.towers, "tower") + ", " +
                     counted(summary.steps, "step") + ", " + grouped(summary.samples) + " " +
                     summary.unit + " in " + fixed(summary.seconds, "%.1f") + " s, " +
                     grouped(summary.samples_per_second()) + " " + summary.unit + "/s";
  if (summary.validation) {
    text += "; validation loss " + fixed(summary.validation->loss);
    for (const auto& [name, value] : summary.validation->metrics)
      text += ", validation " + name + " " + fixed(value);
  }
  return text + "; " + memory_text(summary.devices, summary.memory);
}

std::string summary_json(const RunSummary& summary) {
  JsonWriter json;
  json.begin_object().key("end").value(summary.end);
  json.key("towers").value(std::int64_t{summary.towers});
  json.key("steps").value(summary.steps).key("skipped_steps").value(summary.skipped);
  json.key("overflows").value(summary.overflows);
  json.key(summary.unit).value(summary.samples).key("seconds").value(summary.seconds);
  json.key(summary.unit + "_per_second").value(summary.samples_per_second());
  json.key("data_wait_seconds").value(summary.waited);
  json.key("checkpoint_stall_seconds").value(summary.stalled).key("loss").value(summary.loss);
  if (summary.validation) {
    json.key("validation_loss").value(summary.validation->loss);
    for (const auto& [name, value] : summary.validation->metrics)
      json.key("validation_" + name).value(value);
  }
  std::vector<std::int64_t> in_use;
  std::vector<std::int64_t> peak;
  for (const MemoryUse& use : summary.memory) {
    in_use.push_back(use.in_use);
    peak.push_back(use.peak);
  }
  json.key("memory_bytes").values(in_use).key("memory_peak_bytes").values(peak);
  json.end_object();
  return json.text();
}

}  // namespace pagoda
