#include "lenet5/image_report.h"

#include <pagoda/terminal/text_table.h>

#include <cstdio>

namespace pagoda::app {
namespace {

std::string percent(double part) { return grouped(100 * part, 2) + " %"; }

std::string class_table(const ImageTest& test, const std::vector<std::string>& classes) {
  std::vector<std::vector<std::string>> rows{{"class", "images", "accuracy"}};
  for (const auto& name : classes) rows.front().push_back(name);
  for (int c = 0; c < kImageClasses; ++c) {
    const auto& counts = test.confusion[static_cast<std::size_t>(c)];
    rows.push_back({classes[static_cast<std::size_t>(c)], std::to_string(test.class_total(c)),
                    test.class_total(c) > 0 ? percent(test.class_accuracy(c)) : "-"});
    for (const std::int64_t count : counts) rows.back().push_back(std::to_string(count));
  }
  return text_table(rows);
}

void add_members(JsonWriter& json, const ImageTest& test, const std::vector<std::string>& classes) {
  json.key("samples").value(test.total()).key("loss").value(test.loss);
  json.key("accuracy").value(test.accuracy()).key("classes").values(classes);
  json.key("class_accuracy").begin_array();
  for (int c = 0; c < kImageClasses; ++c) json.value(test.class_accuracy(c));
  json.end_array().key("confusion").begin_array();
  for (const auto& row : test.confusion) {
    json.values(std::vector<std::int64_t>(row.begin(), row.end()));
  }
  json.end_array();
}

}  // namespace

TestReport report_of(const ImageTest& test, const std::vector<std::string>& classes) {
  char loss[32];
  std::snprintf(loss, sizeof loss, "%.4f", test.loss);
  return {.text = "accuracy " + percent(test.accuracy()) + ", loss " + loss + " on " +
                  counted(test.total(), "image") + "\n\n" + class_table(test, classes) +
                  "\nThe last columns say what the images of each class were taken for.",
          .members = [test, classes](JsonWriter& json) { add_members(json, test, classes); }};
}

}  // namespace pagoda::app
