#pragma once

#include <pagoda/run/device_choice.h>

#include <memory>
#include <string>
#include <vector>

#include "run/stored_run.h"
#include "seq2seq/stored_seq2seq.h"
#include "seq2seq/translator.h"
#include "serve/translate_request.h"

namespace pagoda::app {

/// A run's model on all towers, which translates as `pagoda translate` does: the only place where
/// serving knows of models.
///
/// Threads: one at a time. Owns: the towers.
/// Fails: on construction as open_seq2seq; then TowerError when decoding fails.
class RunTranslator {
 public:
  RunTranslator(const StoredRunFlags& run, const std::vector<Device>& devices,
                const DecodingSpeed& speed = {});
  ~RunTranslator();

  std::vector<std::vector<Translation>> translate(const std::vector<std::string>& lines,
                                                  const DecodingChoice& decoding);
  int towers() const;

 private:
  struct Model;

  std::unique_ptr<Model> model_;
  const TranslatorOptions options_;
};

}  // namespace pagoda::app
