#include "seq2seq/run_shortlist.h"

#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/checkpoint/state_dict.h>

#include <cstdio>
#include <string>

#include <ATen/ops/tensor.h>

#include "seq2seq/text_task.h"

namespace pagoda::app {
namespace {

std::vector<std::int64_t> numbers(const std::vector<NamedTensor>& tensors, const char* name) {
  for (const auto& [found, tensor] : tensors) {
    if (found != name) continue;
    if (tensor.scalar_type() != at::kLong || tensor.dim() != 1) break;
    const at::Tensor whole = tensor.contiguous();
    const auto* begin = whole.const_data_ptr<std::int64_t>();
    return {begin, begin + whole.numel()};
  }
  throw DataError("it has no row of whole numbers called \"" + std::string(name) + "\"");
}

Shortlist stored(const std::filesystem::path& file, const Codecs& codecs) {
  try {
    const auto tensors = read_weights(file).tensors;
    Shortlist list({.starts = numbers(tensors, "starts"),
                    .targets = numbers(tensors, "targets"),
                    .frequent = numbers(tensors, "frequent")},
                   codecs.target.vocabulary().size());
    if (list.source_vocabulary() != codecs.source.vocabulary().size())
      throw DataError("it is for " + counted(list.source_vocabulary(), "source token"));
    return list;
  } catch (const DataError& error) {
    throw DataError("cannot use the shortlist " + file.string() + ": " + error.what() +
                    "; remove it, and it is learnt again");
  }
}

void keep(const Shortlist& list, const std::filesystem::path& file) {
  const auto tensor = [](const std::vector<std::int64_t>& values) {
    return at::tensor(values, at::kLong);
  };
  try {
    save_state_dict({{"starts", tensor(list.parts().starts)},
                     {"targets", tensor(list.parts().targets)},
                     {"frequent", tensor(list.parts().frequent)}},
                    file);
  } catch (const IoError& error) {
    std::fprintf(stderr,
                 "pagoda: warning: the shortlist is not kept, and learnt again next time: %s\n",
                 error.what());
  }
}

}  // namespace

std::filesystem::path shortlist_file(const std::filesystem::path& run) {
  return vocabulary_directory(run) / "shortlist.safetensors";
}

Shortlist run_shortlist(const std::filesystem::path& run, const TextFlags& flags,
                        const Codecs& codecs) {
  const auto file = shortlist_file(run);
  if (std::error_code ignored; std::filesystem::exists(file, ignored)) return stored(file, codecs);
  const PreparedText text = load_text(flags, run, LogFormat::text);
  std::fprintf(stderr, "pagoda: learning a shortlist from %s\n",
               counted(text.text.train.size(), "pair").c_str());
  Shortlist list = Shortlist::learn(text.text.train, codecs.source.vocabulary().size(),
                                    codecs.target.vocabulary().size());
  keep(list, file);
  return list;
}

}  // namespace pagoda::app
