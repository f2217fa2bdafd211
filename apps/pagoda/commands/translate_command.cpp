#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/text/line_reader.h>

#include <cstdio>
#include <optional>

#include "commands/commands.h"
#include "run/process_age.h"
#include "run/warned_devices.h"
#include "seq2seq/attention_output.h"
#include "seq2seq/stored_seq2seq.h"
#include "seq2seq/translation_json.h"
#include "seq2seq/translation_stats.h"
#include "seq2seq/translator.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kSortedLines = 512;      // of a tower, that are sorted by length together
constexpr std::size_t kSortedBytes = 1 << 18;  // of these

struct TranslateFlags {
  StoredRunFlags run;
  DeviceChoice devices;
  DecodingSpeed speed;
  std::int64_t beam_size = 5;
  std::int64_t n_best = 1;
  double length_penalty = BeamSearchOptions{}.length_penalty;
  double max_length_factor = DecodeOptions{}.max_length_factor;
  std::int64_t no_repeat_ngram = DecodeOptions{}.no_repeat_ngram;
  std::optional<std::int64_t> batch_tokens;
  std::string attention;
  bool json = false;
  bool stats = false;
};

/// Lines of stdin, as they come.
class StandardLines {
 public:
  explicit StandardLines(std::size_t towers) : towers_(towers) {}

  /// Waits for a line, and takes those with it that have come too; none at the end.
  /// Fails: DataError for a line that cannot be used, once all before it were taken.
  std::vector<std::string> next() {
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    while (problem_.empty() && lines.size() < kSortedLines * towers_ &&
           bytes < kSortedBytes * towers_ && (lines.empty() || input_.is_ready())) {
      const auto line = input_.next();
      if (!line) break;
      if (!line->problem.empty()) {
        problem_ = "stdin, line " + std::to_string(line->number) + ": " + line->problem;
        break;
      }
      bytes += line->text.size();
      lines.emplace_back(line->text);
    }
    if (lines.empty() && !problem_.empty())
      throw DataError(problem_ + "; correct it or leave it out");
    return lines;
  }

 private:
  const std::size_t towers_;
  LineReader input_{"-"};
  std::string problem_;  // of the line after those that were taken
};

/// One as a bare line; several with their scores, an empty line after them; or JSON.
void print(const std::string& source, const std::vector<Translation>& translations,
           const TranslateFlags& flags) {
  if (flags.json) {
    JsonWriter json;
    write_translations(json, source, translations, {.tokens = true});
    std::puts(json.text().c_str());
    return;
  }
  if (flags.n_best == 1) {
    std::puts(translations.front().text.c_str());
    return;
  }
  for (const auto& one : translations) std::printf("%.4f\t%s\n", one.score, one.text.c_str());
  std::puts("");
}

Decode decoding(const TranslateFlags& flags) {
  if (flags.n_best > flags.beam_size) {
    throw UsageError("--n-best " + std::to_string(flags.n_best) + " is more than --beam-size " +
                     std::to_string(flags.beam_size) + " finds");
  }
  DecodeOptions options = translation_options();
  options.max_length_factor = flags.max_length_factor;
  options.no_repeat_ngram = flags.no_repeat_ngram;
  options.attention = !flags.attention.empty();
  // Where nobody reads scores, none are computed.
  if (flags.beam_size == 1 && !flags.json) return greedy_decoding(options, WithScores::no);
  return beam_decoding({.decode = options,
                        .beam_size = flags.beam_size,
                        .n_best = flags.n_best,
                        .length_penalty = flags.length_penalty});
}

int translate(const TranslateFlags& flags) {
  const Decode decode = decoding(flags);
  const WarnedDevices devices(flags.devices);
  StoredSeq2Seq model = open_seq2seq(flags.run, devices.list(), flags.speed);
  std::optional<AtomicFile> attention;
  if (!flags.attention.empty()) attention.emplace(flags.attention);
  TranslationStats stats{.start_seconds = process_age()};
  const TranslatorOptions options{
      .batch_tokens = flags.batch_tokens.value_or(flags.speed.batch_tokens()),
      .shortlist = model.shortlist};
  StandardLines input(static_cast<std::size_t>(model.towers->size()));
  for (auto lines = input.next(); !lines.empty(); lines = input.next()) {
    const Stopwatch watch;
    const auto found = translate_lines(*model.towers, model.codecs, lines, decode, options);
    stats.add(lines, found, watch.seconds());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (attention) attention->write(attention_json(found[i].front()) + "\n");
      print(lines[i], found[i], flags);
    }
    std::fflush(stdout);
  }
  if (attention) attention->commit();
  if (flags.stats) std::fprintf(stderr, "%s\n", stats.text().c_str());
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
  add.option("--no-repeat-ngram", flags->no_repeat_ngram,
             "no so many tokens in a row occur twice in a translation; 0: any may")
      ->check(CLI::NonNegativeNumber);
  add.count(
      "--batch-tokens", flags->batch_tokens,
      "tokens that a tower decodes together: lines of similar length, filled up to the longest "
      "(default: 2048, with --int8 512)");
  add_speed_flags(add, flags->speed);
  add.option(
      "--attention", flags->attention,
      "file for what each token of the best translation looked at, a JSON object a line (default: "
      "none)");
  add.flag("--json", flags->json,
           "print a JSON object a line: the source, and its translations with score and tokens");
  add.flag("--stats", flags->stats, "say on stderr at the end how fast it was");
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return translate(*flags); }; });
}

}  // namespace pagoda::app
