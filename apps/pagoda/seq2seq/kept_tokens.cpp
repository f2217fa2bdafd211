#include "seq2seq/kept_tokens.h"

#include <pagoda/base/error.h>

#include <sstream>
#include <vector>

namespace pagoda::app {
namespace {

/// One file's line; nothing for what is not a file, such as a pipe.
std::optional<std::string> file_line(const char* what, const std::string& name) {
  std::error_code error;
  const auto path = std::filesystem::absolute(name, error);
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const auto size = std::filesystem::file_size(path, error);
  const auto changed = std::filesystem::last_write_time(path, error).time_since_epoch();
  return std::string(what) + " " + path.string() + ", " + std::to_string(size) +
         " bytes, changed at " + std::to_string(changed.count()) + "\n";
}

/// The first line that differs, as a person reads it.
std::string first_difference(const std::string& before, const std::string& now) {
  std::istringstream old_lines(before);
  std::istringstream new_lines(now);
  std::string old_line;
  std::string new_line;
  do {
    if (!std::getline(old_lines, old_line)) old_line = "nothing";
    if (!std::getline(new_lines, new_line)) new_line = "nothing";
  } while (old_line == new_line && old_line != "nothing");
  return old_line + "; now " + new_line;
}

}  // namespace

std::string file_inputs(const TextFlags& flags) {
  const std::pair<const char*, const std::vector<std::string>*> groups[] = {
      {"source", &flags.source},
      {"target", &flags.target},
      {"pairs", &flags.pairs},
      {"conv", &flags.conv},
      {"valid-source", &flags.valid_source},
      {"valid-target", &flags.valid_target},
      {"valid-pairs", &flags.valid_pairs}};
  if (flags.training_files().empty()) return {};
  std::string text;
  for (const auto& [what, names] : groups) {
    for (const auto& name : *names) {
      const auto line = file_line(what, name);
      if (!line) return {};
      text += *line;
    }
  }
  return text + "on-bad-line " + flags.on_bad_line + "\nmax-pairs " +
         std::to_string(flags.max_pairs) + "\nmax-length " + std::to_string(flags.max_length) +
         "\nbleu-pairs " + std::to_string(flags.bleu_pairs) + "\ntokenizer " + flags.tokenizer +
         (flags.lower_case ? ", lower-case" : "") + "\n";
}

std::string with_vocabularies(const std::string& files,
                              const std::vector<DataInput>& vocabularies) {
  if (files.empty()) return {};
  std::string text = files;
  for (const DataInput& file : vocabularies) {
    text += "vocabulary " + file.name + ", " + std::to_string(file.bytes) + " bytes, CRC-32 " +
            std::to_string(file.crc32) + "\n";
  }
  return text;
}

std::filesystem::path kept_token_file(const std::filesystem::path& directory) {
  return directory / "tokens.bin";
}

KeptTokens read_kept_tokens(const std::filesystem::path& directory, const std::string& inputs) {
  const auto path = kept_token_file(directory);
  if (inputs.empty() || !std::filesystem::is_regular_file(path)) return {};
  std::string why;
  try {
    EncodedText text = read_token_file(path);
    if (text.inputs == inputs) {
      return {.text = std::move(text),
              .remark = "the text was not read again: its tokens are in " + path.string()};
    }
    why = path.string() + " is of other text or options (" + first_difference(text.inputs, inputs) +
          ")";
  } catch (const Error& error) {
    why = error.what();
  }
  return {.remark = why + "; the text was read again"};
}

}  // namespace pagoda::app
