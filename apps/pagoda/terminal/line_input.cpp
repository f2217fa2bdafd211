#include "terminal/line_input.h"

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>
#include <utility>

namespace pagoda::app {
namespace {

constexpr int kHistoryLines = 1000;
constexpr int kExitBase = 128;  // the shell's convention for "ended by signal n"

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t received = 0;
void note(int number) { received = number; }

/// So that a read is interrupted, which base's StopSignal does not want.
class Interrupts {
 public:
  Interrupts() {
    received = 0;
    struct sigaction action {};
    action.sa_handler = note;
    sigaction(SIGINT, &action, &previous_interrupt_);
    sigaction(SIGTERM, &action, &previous_terminate_);
  }
  ~Interrupts() {
    sigaction(SIGINT, &previous_interrupt_, nullptr);
    sigaction(SIGTERM, &previous_terminate_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  struct sigaction previous_interrupt_ {};
  struct sigaction previous_terminate_ {};
};

/// Characters are UTF-8 even where the environment names no such locale.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

/// What libedit's callbacks need.
struct Typing {
  std::string prompt;
  std::optional<char> left = std::nullopt;  // a byte that was read too far
};

Typing& typing_of(EditLine* editor) {
  void* typing = nullptr;
  el_get(editor, EL_CLIENTDATA, &typing);
  return *static_cast<Typing*>(typing);
}

char* prompt_of(EditLine* editor) { return typing_of(editor).prompt.data(); }

/// The next byte of stdin; nothing at its end or after a signal.
std::optional<char> next_byte(Typing& typing) {
  if (typing.left) return *std::exchange(typing.left, std::nullopt);
  while (received == 0) {
    char byte = 0;
    const ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count > 0) return byte;
    if (count == 0 || errno != EINTR) break;
  }
  return std::nullopt;
}

/// One character of stdin for libedit: 1, or 0 at the end. Its own function reads on after a
/// signal. Bytes that are not UTF-8 become U+FFFD.
int read_character(EditLine* editor, wchar_t* character) {
  Typing& typing = typing_of(editor);
  std::mbstate_t state{};
  bool has_begun = false;
  while (const auto byte = next_byte(typing)) {
    const std::size_t used = std::mbrtowc(character, &*byte, 1, &state);
    if (used == static_cast<std::size_t>(-2)) {  // more bytes are needed
      has_begun = true;
      continue;
    }
    if (used == static_cast<std::size_t>(-1)) {
      *character = 0xFFFD;
      if (has_begun) typing.left = byte;  // it may begin the next character
    }
    return 1;
  }
  return 0;
}

}  // namespace

struct LineInput::Terminal {
  explicit Terminal(const std::string& prompt) : typing{.prompt = prompt} {
    use_utf8();
    editor = el_init("pagoda", stdin, stdout, stderr);
    earlier = history_init();
    HistEvent event{};
    history(earlier, &event, H_SETSIZE, kHistoryLines);
    history(earlier, &event, H_SETUNIQUE, 1);
    el_set(editor, EL_CLIENTDATA, &typing);
    el_set(editor, EL_PROMPT, prompt_of);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_HIST, history, earlier);
    el_set(editor, EL_GETCFN, read_character);
  }
  ~Terminal() {
    el_end(editor);  // gives the terminal back as it was
    history_end(earlier);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Typing typing;
  Interrupts interrupts;
  EditLine* editor = nullptr;
  History* earlier = nullptr;
};

LineInput::LineInput(const std::string& prompt, std::size_t max_bytes) : max_bytes_(max_bytes) {
  if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0)
    terminal_ = std::make_unique<Terminal>(prompt);
  else
    reader_.emplace("-", LineReaderOptions{.max_bytes = max_bytes});
}

LineInput::~LineInput() = default;

std::optional<InputLine> LineInput::next() {
  if (reader_) {
    const std::optional<Line> line = reader_->next();
    if (!line) return std::nullopt;
    return InputLine{std::string(line->text), line->problem};
  }
  // Before the prompt: libedit does it after, and what is typed in between would be edited by the
  // kernel, which takes single bytes of a character away.
  el_set(terminal_->editor, EL_PREP_TERM, 1);
  int count = 0;
  const char* typed = received == 0 ? el_gets(terminal_->editor, &count) : nullptr;
  if (typed == nullptr || count <= 0) {
    std::fputs("\n", stdout);  // behind the prompt
    return std::nullopt;
  }
  std::string line(typed, static_cast<std::size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  HistEvent event{};
  if (!line.empty()) history(terminal_->earlier, &event, H_ENTER, line.c_str());
  if (line.size() > max_bytes_)
    return InputLine{{}, "more than " + std::to_string(max_bytes_) + " bytes in a line"};
  // What libedit makes of bytes that are no text.
  if (line.find("\xEF\xBF\xBD") != std::string::npos) return InputLine{{}, "not UTF-8"};
  return InputLine{std::move(line)};
}

int LineInput::exit_code() const { return received == 0 ? 0 : kExitBase + received; }

}  // namespace pagoda::app
