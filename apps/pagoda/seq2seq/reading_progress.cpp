#include "seq2seq/reading_progress.h"

#include <pagoda/base/byte_size.h>
#include <pagoda/terminal/text_table.h>

#include <filesystem>
#include <optional>

namespace pagoda::app {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kPairsBetweenLooks = 1 << 12;
constexpr std::int64_t kPairsBetweenLines = 1'000'000;

std::int64_t bytes_of(const PairFiles& files) {
  std::int64_t bytes = 0;
  for (const auto* paths : {&files.source, &files.target, &files.pairs, &files.conv}) {
    for (const auto& path : *paths) {
      std::error_code ignored;  // whoever opens the file tells why it cannot be read
      const auto size = std::filesystem::file_size(path, ignored);
      if (!ignored) bytes += static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

class ReadingProgress : public PairReader {
 public:
  ReadingProgress(std::unique_ptr<PairReader> pairs, const PairFiles& files,
                  const std::string& what, LogFormat format)
      : pairs_(std::move(pairs)), what_(what), console_(format) {
    if (format != LogFormat::text || files.empty()) return;
    const std::int64_t bytes = bytes_of(files);
    console_.line(what_ + " (" + bytes_text(bytes) + ")");
    console_.expect(bytes / kMebibyte);
    shows_ = true;
  }

  std::optional<TextPair> next() override {
    const auto pair = pairs_->next();
    if (shows_ && (!pair || ++count_ % kPairsBetweenLooks == 0)) show();
    return pair;
  }

  const PairReport& report() const override { return pairs_->report(); }
  std::int64_t bytes_read() const override { return pairs_->bytes_read(); }
  std::vector<DataInput> inputs() const override { return pairs_->inputs(); }

 private:
  void show() {
    const std::string pairs = counted(count_, "pair");
    console_.progress(bytes_read() / kMebibyte, "MiB, " + pairs);
    if (count_ < next_line_ || console_.has_bar()) return;
    next_line_ += kPairsBetweenLines;
    console_.line(what_ + ": " + pairs + " so far");
  }

  const std::unique_ptr<PairReader> pairs_;
  const std::string what_;
  Console console_;
  bool shows_ = false;
  std::int64_t count_ = 0;
  std::int64_t next_line_ = kPairsBetweenLines;
};

}  // namespace

std::unique_ptr<PairReader> with_progress(std::unique_ptr<PairReader> pairs, const PairFiles& files,
                                          const std::string& what, LogFormat format) {
  return std::make_unique<ReadingProgress>(std::move(pairs), files, what, format);
}

}  // namespace pagoda::app
