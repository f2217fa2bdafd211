#pragma once

#include <pagoda/terminal/console.h>
#include <pagoda/text/pair_reader.h>

#include <memory>
#include <string>

namespace pagoda::app {

/// The pairs of another reader; how far it is through its files shows on stderr: a line when it
/// begins and, with much text, a bar on a terminal or a line now and then.
///
/// `what` is being done with them, such as "reading the training text". The bar goes with the
/// reader. `format` is that of the log; JSON shows nothing.
std::unique_ptr<PairReader> with_progress(std::unique_ptr<PairReader> pairs, const PairFiles& files,
                                          const std::string& what, LogFormat format);

}  // namespace pagoda::app
