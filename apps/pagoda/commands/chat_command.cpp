#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/text/chinese_spaces.h>

#include <cstdio>
#include <optional>

#include "commands/commands.h"
#include "run/warned_devices.h"
#include "seq2seq/stored_seq2seq.h"
#include "seq2seq/translator.h"
#include "terminal/line_input.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kMaxBytes = 1 << 16;  // of a line

struct ChatFlags {
  StoredRunFlags run;
  DeviceChoice devices = {.devices = "1"};  // one line at a time keeps one tower busy
  std::int64_t beam_size = BeamSearchOptions{}.beam_size;
  double length_penalty = BeamSearchOptions{}.length_penalty;
  std::optional<double> temperature;
  std::optional<std::int64_t> top_k;
  std::uint64_t seed = 1;
};

/// How the answer to line `number` is found.
Decode decoding(const ChatFlags& flags, std::uint64_t number) {
  const DecodeOptions decode = translation_options();
  if (!flags.temperature && !flags.top_k) {
    return beam_decoding(
        {.decode = decode, .beam_size = flags.beam_size, .length_penalty = flags.length_penalty});
  }
  return sampled_decoding({.decode = decode,
                           .temperature = flags.temperature.value_or(SamplingOptions{}.temperature),
                           .top_k = flags.top_k.value_or(SamplingOptions{}.top_k),
                           .seed = flags.seed + number});
}

/// Why a line cannot be answered; empty if it can.
std::string problem_of(const InputLine& line, const TextCodec& codec) {
  if (!line.problem.empty()) return line.problem;
  const auto most = static_cast<std::size_t>(TranslatorOptions{}.max_length);
  const std::size_t tokens = codec.encode(line.text).size();
  if (tokens <= most) return "";
  return std::to_string(tokens) + " tokens, more than " + std::to_string(most);
}

int chat(const ChatFlags& flags) {
  if (flags.temperature && !(*flags.temperature > 0)) {
    throw UsageError("--temperature " + number_text(*flags.temperature) +
                     " is not possible; it must be above 0");
  }
  const WarnedDevices devices(flags.devices);
  StoredSeq2Seq model = open_seq2seq(flags.run, devices.list());
  LineInput input("> ", kMaxBytes);
  if (input.is_terminal()) std::puts("Type something; Ctrl-D ends.");
  std::uint64_t number = 0;
  while (const auto line = input.next()) {
    std::string answer;
    if (const std::string problem = problem_of(*line, model.codecs.source); !problem.empty()) {
      std::fprintf(stderr, "pagoda: a line is left out: %s\n", problem.c_str());
      if (input.is_terminal()) continue;
    } else if (input.is_terminal() && line->text.empty()) {
      continue;
    } else {
      const auto found =
          translate_lines(*model.towers, model.codecs, {line->text}, decoding(flags, number++));
      answer = without_chinese_spaces(found.front().front().text);
    }
    std::puts(answer.c_str());
    std::fflush(stdout);
  }
  return input.exit_code();
}

}  // namespace

void add_chat_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App* command = program.add_subcommand(
      "chat", "Talk with a run of seq2seq: at a prompt, or a line for a line through a pipe");
  add_stored_run_flags(*command, flags->run);
  FlagAdder add(*command);
  CLI::Option* beam =
      add.count("--beam-size", flags->beam_size, "candidates that are followed; 1 is greedy");
  CLI::Option* penalty = add.option("--length-penalty", flags->length_penalty,
                                    "power of the length that the beam's scores are divided by");
  add.option("--temperature", flags->temperature,
             "draw answers at random instead, below 1 the likelier ones (default: a beam)")
      ->excludes(beam)
      ->excludes(penalty);
  add.count("--top-k", flags->top_k,
            "draw at random instead, each token from so many likeliest ones (default: a beam)")
      ->excludes(beam)
      ->excludes(penalty);
  add.option("--seed", flags->seed, "of what is drawn")->check(any_whole_number());
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return chat(*flags); }; });
}

}  // namespace pagoda::app
