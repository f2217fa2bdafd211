#pragma once

#include <new>

namespace pagoda::app {

/// While it lives, memory that is refused ends the program at once, with one line and exit code 1.
///
/// For the time in which SentencePiece learns tokens: its threads cannot throw, so that without this
/// std::bad_alloc would end the process by a signal. Nothing has been written then.
///
/// Threads: applies to all. Owns: the process's new-handler meanwhile.
/// Example:
///     const EndWithoutMemory guard;
///     train_sentencepiece(lines, model, options);
class EndWithoutMemory {
 public:
  EndWithoutMemory();
  ~EndWithoutMemory();
  EndWithoutMemory(const EndWithoutMemory&) = delete;
  EndWithoutMemory& operator=(const EndWithoutMemory&) = delete;

 private:
  const std::new_handler before_;
};

}  // namespace pagoda::app
