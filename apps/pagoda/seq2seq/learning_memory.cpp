#include "seq2seq/learning_memory.h"

#include <string_view>
#include <unistd.h>

namespace pagoda::app {
namespace {

/// Takes no memory, and runs no destructors: other threads are still at work.
void end_without_memory() {
  constexpr std::string_view kLine =
      "pagoda: out of memory while SentencePiece learned the tokens; give it less text "
      "(--max-pairs), or take --tokenizer words\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kLine.data(), kLine.size());
  _exit(1);
}

}  // namespace

EndWithoutMemory::EndWithoutMemory() : before_(std::set_new_handler(&end_without_memory)) {}
EndWithoutMemory::~EndWithoutMemory() { std::set_new_handler(before_); }

}  // namespace pagoda::app
