#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/text/pair_reader.h>

#include <functional>
#include <utility>

namespace pagoda {
namespace {

constexpr std::size_t kNotes = 5;

/// Notes a line that cannot be used, or throws.
class BadLines {
 public:
  BadLines(OnBadLine policy, PairReport& report) : policy_(policy), report_(report) {}

  void meet(const LineReader& file, const Line& line, std::string_view next_move) {
    const std::string place = file.place_of(line);
    if (policy_ == OnBadLine::error) {
      throw DataError(place + "; " + std::string(next_move) +
                      ", or leave such lines out (on-bad-line: skip)");
    }
    ++report_.bad;
    note(place);
  }

  void note(std::string text) {
    if (report_.notes.size() < kNotes) report_.notes.push_back(std::move(text));
  }

  OnBadLine policy() const { return policy_; }

 private:
  OnBadLine policy_;
  PairReport& report_;
};

/// One file or pair of files: the next pair, possibly with empty sides; nothing at the end.
class PairFile {
 public:
  virtual ~PairFile() = default;
  virtual std::optional<TextPair> next(BadLines& bad) = 0;
  virtual std::int64_t bytes_read() const = 0;
  virtual std::vector<DataInput> inputs() const = 0;
};

DataInput input_of(const LineReader& file, const char* role) {
  DataInput input = file.input();
  input.role = role;
  return input;
}

class AlignedFiles : public PairFile {
 public:
  AlignedFiles(const std::filesystem::path& source, const std::filesystem::path& target,
               const LineReaderOptions& options)
      : source_(source, options), target_(target, options) {}

  std::optional<TextPair> next(BadLines& bad) override {
    while (true) {
      const auto source = source_.next();
      const auto target = target_.next();
      if (source.has_value() != target.has_value()) end_early(source.has_value(), bad);
      if (!source || !target) return std::nullopt;
      ++lines_;
      if (source->problem.empty() && target->problem.empty()) return {{source->text, target->text}};
      if (!source->problem.empty()) bad.meet(source_, *source, kRepair);
      if (!target->problem.empty()) bad.meet(target_, *target, kRepair);
    }
  }

  std::int64_t bytes_read() const override { return source_.bytes_read() + target_.bytes_read(); }
  std::vector<DataInput> inputs() const override {
    return {input_of(source_, "source"), input_of(target_, "target")};
  }

 private:
  static constexpr std::string_view kRepair = "repair the line";

  void end_early(bool source_goes_on, BadLines& bad) const {
    const LineReader& shorter = source_goes_on ? target_ : source_;
    const LineReader& longer = source_goes_on ? source_ : target_;
    const std::string what = shorter.path().string() + " ends after line " +
                             std::to_string(lines_) + ", " + longer.path().string() + " goes on";
    if (bad.policy() == OnBadLine::error) {
      throw DataError(what +
                      ": their lines do not belong together; give two aligned files, or use "
                      "the lines that both have (on-bad-line: skip)");
    }
    bad.note(what);
  }

  LineReader source_;
  LineReader target_;
  std::int64_t lines_ = 0;
};

class TabbedFile : public PairFile {
 public:
  TabbedFile(const std::filesystem::path& path, const LineReaderOptions& options)
      : file_(path, options) {}

  std::optional<TextPair> next(BadLines& bad) override {
    while (auto line = file_.next()) {
      const std::size_t tab = line->text.find('\t');
      if (line->problem.empty() && tab == std::string_view::npos && !line->text.empty()) {
        line->problem = "no tab between source and target";
      }
      if (line->problem.empty()) {
        if (line->text.empty()) return TextPair{};
        const std::size_t second = line->text.find('\t', tab + 1);
        return {{line->text.substr(0, tab), line->text.substr(tab + 1, second - tab - 1)}};
      }
      bad.meet(file_, *line, "write one pair a line with a tab in between");
    }
    return std::nullopt;
  }

  std::int64_t bytes_read() const override { return file_.bytes_read(); }
  std::vector<DataInput> inputs() const override { return {input_of(file_, "pairs")}; }

 private:
  LineReader file_;
};

class Conversations : public PairFile {
 public:
  Conversations(const std::filesystem::path& path, const LineReaderOptions& options)
      : file_(path, options) {}

  std::optional<TextPair> next(BadLines& bad) override {
    while (auto line = file_.next()) {
      const std::string_view text = line->text;
      const bool utterance = text == "M" || text.starts_with("M ");
      if (line->problem.empty() && !utterance && text != "E" && !text.empty()) {
        line->problem = "neither \"E\" nor \"M \" at its start";
      }
      if (!line->problem.empty()) {
        bad.meet(file_, *line, "write \"M text\" for an utterance and \"E\" before a conversation");
        has_last_ = false;  // what follows does not answer what came before
      } else if (text == "E") {
        has_last_ = false;
      } else if (utterance) {
        question_.swap(answer_);
        answer_ = text.substr(std::min<std::size_t>(2, text.size()));
        if (std::exchange(has_last_, true)) return {{question_, answer_}};
      }
    }
    return std::nullopt;
  }

  std::int64_t bytes_read() const override { return file_.bytes_read(); }
  std::vector<DataInput> inputs() const override { return {input_of(file_, "conv")}; }

 private:
  LineReader file_;
  std::string question_;
  std::string answer_;  // the last utterance
  bool has_last_ = false;
};

using OpenFile = std::function<std::unique_ptr<PairFile>()>;

class FileChain : public PairReader {
 public:
  FileChain(std::vector<OpenFile> files, OnBadLine policy)
      : files_(std::move(files)), bad_(policy, report_) {}

  std::optional<TextPair> next() override {
    while (current_ || opened_ < files_.size()) {
      if (!current_) current_ = files_[opened_++]();
      const auto pair = current_->next(bad_);
      if (!pair) {
        bytes_of_ended_ += current_->bytes_read();
        add_inputs(*current_, inputs_of_ended_);
        current_.reset();
      } else if (is_empty(pair->source) || is_empty(pair->target)) {
        ++report_.empty;
      } else {
        ++report_.pairs;
        return pair;
      }
    }
    return std::nullopt;
  }

  std::int64_t bytes_read() const override {
    return bytes_of_ended_ + (current_ ? current_->bytes_read() : 0);
  }

  std::vector<DataInput> inputs() const override {
    auto inputs = inputs_of_ended_;
    if (current_) add_inputs(*current_, inputs);
    return inputs;
  }

 private:
  static void add_inputs(const PairFile& file, std::vector<DataInput>& inputs) {
    for (auto& input : file.inputs()) inputs.push_back(std::move(input));
  }

  static bool is_empty(std::string_view text) {
    return text.find_first_not_of(" \t") == std::string_view::npos;
  }

  const std::vector<OpenFile> files_;
  BadLines bad_;
  std::size_t opened_ = 0;
  std::int64_t bytes_of_ended_ = 0;
  std::vector<DataInput> inputs_of_ended_;
  std::unique_ptr<PairFile> current_;
};

}  // namespace

std::string PairReport::text() const {
  const auto number = [](std::int64_t count) { return grouped(static_cast<double>(count)); };
  std::string text = number(pairs) + " pairs";
  if (empty > 0 || bad > 0) {
    text +=
        "; left out: " + number(empty) + " with an empty side, " + number(bad) + " with a bad line";
  }
  for (const auto& note : notes) text += "; " + note;
  return text;
}

std::unique_ptr<PairReader> open_pairs(const PairFiles& files, const PairReaderOptions& options) {
  if (files.empty()) throw UsageError("no file with pairs is given");
  if (files.source.size() != files.target.size()) {
    throw UsageError(std::to_string(files.source.size()) + " source files and " +
                     std::to_string(files.target.size()) +
                     " target files are given; each source needs its target");
  }
  std::vector<OpenFile> open;
  for (std::size_t i = 0; i < files.source.size(); ++i) {
    open.push_back([source = files.source[i], target = files.target[i], lines = options.lines] {
      return std::make_unique<AlignedFiles>(source, target, lines);
    });
  }
  for (const auto& path : files.pairs) {
    open.push_back([=] { return std::make_unique<TabbedFile>(path, options.lines); });
  }
  for (const auto& path : files.conv) {
    open.push_back([=] { return std::make_unique<Conversations>(path, options.lines); });
  }
  return std::make_unique<FileChain>(std::move(open), options.on_bad_line);
}

}  // namespace pagoda
