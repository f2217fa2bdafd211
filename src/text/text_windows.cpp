#include <pagoda/base/error.h>
#include <pagoda/text/line_reader.h>
#include <pagoda/text/text_windows.h>

#include <algorithm>

#include <ATen/ops/empty.h>

namespace pagoda {

LineEncoder byte_encoder() {
  return [](std::string_view line, std::vector<TokenId>& tokens) {
    for (const char byte : line) tokens.push_back(static_cast<unsigned char>(byte));
    tokens.push_back('\n');
  };
}

TextWindows::TextWindows(const std::vector<std::filesystem::path>& files, const LineEncoder& encode,
                         const TextWindowsOptions& options)
    : options_(options) {
  if (options_.length < 1) {
    throw UsageError("a window of text has " + std::to_string(options_.length) +
                     " tokens; it must have at least 1");
  }
  for (const auto& file : files) {
    LineReader lines(file);
    while (const auto line = lines.next()) {
      if (!line->problem.empty()) throw DataError(lines.place_of(*line));
      encode(line->text, tokens_);
    }
    inputs_.push_back(lines.input());
  }
  const auto count = static_cast<std::int64_t>(tokens_.size());
  const std::int64_t beyond = options_.next.empty() ? 0 : 1;
  windows_ = std::max<std::int64_t>(count - beyond, 0) / options_.length;
  if (windows_ > 0) return;
  throw DataError("the text " + (files.empty() ? "" : "in " + files.front().string() + " ") +
                  "has " + std::to_string(count) + " tokens, and a window takes " +
                  std::to_string(options_.length + beyond));
}

at::Tensor TextWindows::windows(std::span<const std::int64_t> samples, std::int64_t shift) const {
  at::Tensor rows = at::empty({std::ssize(samples), options_.length}, at::kLong);
  auto* to = rows.mutable_data_ptr<std::int64_t>();
  for (const std::int64_t sample : samples) {
    if (sample < 0 || sample >= windows_) {
      throw UsageError("sample " + std::to_string(sample) + " of a text with " +
                       std::to_string(windows_) + " windows");
    }
    to = std::copy_n(tokens_.begin() + sample * options_.length + shift, options_.length, to);
  }
  return rows;
}

NamedBatch TextWindows::get(std::span<const std::int64_t> samples, std::int64_t) const {
  NamedBatch batch{.tensors = {{options_.tokens, windows(samples, 0)}},
                   .samples = {samples.begin(), samples.end()}};
  if (!options_.next.empty()) batch.tensors.emplace(options_.next, windows(samples, 1));
  return batch;
}

}  // namespace pagoda
