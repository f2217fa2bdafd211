#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/text/line_reader.h>

#include <cstdio>
#include <optional>

#include "commands/commands.h"
#include "run/warned_devices.h"
#include "seq2seq/attention_output.h"
#include "seq2seq/stored_seq2seq.h"
#include "seq2seq/translator.h"

namespace pagoda::app {
namespace {

struct TranslateFlags {
  StoredRunFlags run;
  DeviceChoice devices;
  std::int64_t beam_size = 5;
  std::int64_t n_best = 1;
  double length_penalty = BeamSearchOptions{}.length_penalty;
  double max_length_factor = DecodeOptions{}.max_length_factor;
  std::int64_t batch_size = TranslatorOptions{}.batch_size;
  std::string attention;
};

/// So many lines of stdin, fewer at its end. Fails: DataError for a line that cannot be used.
std::vector<std::string> read_lines(LineReader& input, std::size_t count) {
  std::vector<std::string> lines;
  while (lines.size() < count) {
    const auto line = input.next();
    if (!line) break;
    if (!line->problem.empty()) {
      throw DataError("stdin, line " + std::to_string(line->number) + ": " + line->problem +
                      "; correct it or leave it out");
    }
    lines.emplace_back(line->text);
  }
  return lines;
}

/// One as a bare line; several with their scores, an empty line after them.
void print(const std::vector<Translation>& translations, std::int64_t n_best) {
  if (n_best == 1) {
    std::puts(translations.front().text.c_str());
    return;
  }
  for (const auto& one : translations) std::printf("%.4f\t%s\n", one.score, one.text.c_str());
  std::puts("");
}

int translate(const TranslateFlags& flags) {
  if (flags.n_best > flags.beam_size) {
    throw UsageError("--n-best " + std::to_string(flags.n_best) + " is more than --beam-size " +
                     std::to_string(flags.beam_size) + " finds");
  }
  const Decode decode = beam_decoding({.decode = {.max_length_factor = flags.max_length_factor,
                                                  .attention = !flags.attention.empty()},
                                       .beam_size = flags.beam_size,
                                       .n_best = flags.n_best,
                                       .length_penalty = flags.length_penalty});
  const WarnedDevices devices(flags.devices);
  StoredSeq2Seq model = open_seq2seq(flags.run, devices.list());
  std::optional<AtomicFile> attention;
  if (!flags.attention.empty()) attention.emplace(flags.attention);
  const auto towers = static_cast<std::size_t>(model.towers->size());
  const std::size_t lines_at_once = static_cast<std::size_t>(flags.batch_size) * towers * 8;
  LineReader input("-");
  while (true) {
    const auto lines = read_lines(input, lines_at_once);
    if (lines.empty()) break;
    const auto found = translate_lines(*model.towers, model.codecs, lines, decode,
                                       {.batch_size = flags.batch_size});
    for (const auto& translations : found) {
      if (attention) attention->write(attention_json(translations.front()) + "\n");
      print(translations, flags.n_best);
    }
    std::fflush(stdout);
  }
  if (attention) attention->commit();
  return 0;
}

}  // namespace

void add_translate_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<TranslateFlags>();
  CLI::App* command = program.add_subcommand(
      "translate", "Translate stdin to stdout, a line for a line, with a run of seq2seq");
  add_stored_run_flags(*command, flags->run);
  FlagAdder add(*command);
  add.count("--beam-size", flags->beam_size, "candidates that are followed; 1 is greedy");
  add.count(
      "--n-best", flags->n_best,
      "translations of each line; more than 1 are printed with their scores, an empty line after");
  add.option("--length-penalty", flags->length_penalty,
             "power of the length that scores are divided by");
  add.option("--max-length-factor", flags->max_length_factor,
             "tokens of a translation for each of its source, and 10 more");
  add.count("--batch-size", flags->batch_size, "lines that a tower decodes together");
  add.option(
      "--attention", flags->attention,
      "file for what each token of the best translation looked at, a JSON object a line (default: "
      "none)");
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return translate(*flags); }; });
}

}  // namespace pagoda::app
