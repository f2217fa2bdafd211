#include "seq2seq/seq2seq_report.h"

#include <pagoda/terminal/text_table.h>

namespace pagoda::app {
namespace {

std::string test_text(const Seq2SeqTest& test) {
  std::string numbers;
  std::string buckets;
  for (const auto& [name, value] : test.evaluation.metrics) {
    if (name == "bleu") {
      numbers += "BLEU " + grouped(value, 2) + ", ";
    } else if (name == "exact") {
      numbers += "exact " + grouped(100 * value, 2) + " %, ";
    } else if (name == "perplexity") {
      numbers += "perplexity " + grouped(value, 2) + ", ";
    } else {
      buckets += "\n" + name + " " + grouped(value, 2);
    }
  }
  std::string text = numbers + "loss " + grouped(test.evaluation.loss, 4) + " on " +
                     counted(test.pairs, "pair") + buckets;
  if (!test.shown.empty()) text += "\n";
  for (const TranslatedPair& pair : test.shown) text += "\n" + pair.text();
  return text;
}

void add_test(JsonWriter& json, const Seq2SeqTest& test) {
  json.key("samples").value(test.pairs).key("tokens").value(test.evaluation.weight);
  json.key("loss").value(test.evaluation.loss);
  for (const auto& [name, value] : test.evaluation.metrics) json.key(name).value(value);
  json.key("translations").begin_array();
  for (const TranslatedPair& pair : test.shown) {
    json.begin_object().key("source").value(pair.source);
    json.key("translation").value(pair.translation);
    json.key("reference").value(pair.reference).end_object();
  }
  json.end_array();
}

}  // namespace

TestReport report_of(const Seq2SeqTest& test) {
  return {.text = test_text(test), .members = [test](JsonWriter& json) { add_test(json, test); }};
}

}  // namespace pagoda::app
