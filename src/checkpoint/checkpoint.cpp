#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>

#include "checkpoint/pickle_file.h"

namespace pagoda {
namespace {

constexpr std::int64_t kFormat = 1;

c10::impl::GenericDict new_dict() {
  return c10::impl::GenericDict(c10::StringType::get(), c10::AnyType::get());
}

c10::impl::GenericDict as_dict(const std::vector<NamedTensor>& tensors) {
  auto dict = new_dict();
  for (const auto& [name, tensor] : tensors) dict.insert(name, tensor);
  return dict;
}

/// Reads one entry after another and says which one is wrong.
class Fields {
 public:
  Fields(const c10::IValue& value, const std::filesystem::path& path) : path_(path) {
    if (!value.isGenericDict()) fail("is not a checkpoint: it holds no dict");
    dict_ = value.toGenericDict();
  }

  c10::IValue get(const char* name) const {
    const auto found = dict_.find(name);
    if (found == dict_.end()) fail("is not a checkpoint: it has no '" + std::string(name) + "'");
    return found->value();
  }

  bool has(const char* name) const { return dict_.contains(name); }

  std::int64_t integer(const char* name) const {
    const c10::IValue value = get(name);
    if (!value.isInt()) fail_field(name, "a whole number");
    return value.toInt();
  }

  double number(const char* name) const {
    const c10::IValue value = get(name);
    if (!value.isDouble()) fail_field(name, "a number");
    return value.toDouble();
  }

  std::string text(const char* name) const {
    const c10::IValue value = get(name);
    if (!value.isString()) fail_field(name, "text");
    return value.toStringRef();
  }

  std::vector<NamedTensor> tensors(const char* name) const {
    const c10::IValue value = get(name);
    if (!value.isGenericDict()) fail_field(name, "a dict of tensors");
    std::vector<NamedTensor> tensors;
    for (const auto& entry : value.toGenericDict()) {
      if (!entry.key().isString() || !entry.value().isTensor())
        fail_field(name, "a dict of tensors");
      tensors.push_back({entry.key().toStringRef(), entry.value().toTensor()});
    }
    return tensors;
  }

  /// Undefined where there is none.
  at::Tensor bytes(const char* name) const {
    if (!has(name)) return {};  // written before there were any
    const c10::IValue value = get(name);
    if (value.isNone()) return {};
    if (!value.isTensor() || value.toTensor().scalar_type() != at::kByte)
      fail_field(name, "a tensor of bytes");
    return value.toTensor();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(path_.string() + " " + what);
  }

 private:
  [[noreturn]] void fail_field(const char* name, const char* expected) const {
    fail("is not a checkpoint: '" + std::string(name) + "' is not " + expected);
  }

  const std::filesystem::path& path_;
  c10::impl::GenericDict dict_ = new_dict();
};

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  auto dict = new_dict();
  dict.insert("format", kFormat);
  dict.insert("model", as_dict(checkpoint.model));
  dict.insert("average", as_dict(checkpoint.average));
  dict.insert("optimizer", as_dict(checkpoint.optimizer));
  dict.insert("torch_optimizer", checkpoint.torch_optimizer.defined()
                                     ? c10::IValue(checkpoint.torch_optimizer)
                                     : c10::IValue());
  dict.insert("step", checkpoint.step);
  dict.insert("epoch", checkpoint.epoch);
  dict.insert("consumed", checkpoint.consumed);
  dict.insert("samples", checkpoint.samples);
  dict.insert("seed", static_cast<std::int64_t>(checkpoint.seed));
  dict.insert("towers", checkpoint.towers);
  dict.insert("best", checkpoint.best ? c10::IValue(*checkpoint.best) : c10::IValue());
  dict.insert("best_step", checkpoint.best_step);
  dict.insert("stale_validations", checkpoint.stale_validations);
  dict.insert("lowest_loss",
              checkpoint.lowest_loss ? c10::IValue(*checkpoint.lowest_loss) : c10::IValue());
  dict.insert("stalled_validations", checkpoint.stalled_validations);
  dict.insert("rate_factor", checkpoint.rate_factor);
  dict.insert("config", checkpoint.config);
  write_pickle(dict, path);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const Fields fields(read_pickle(path), path);
  if (const std::int64_t format = fields.integer("format"); format != kFormat) {
    fields.fail("has format " + std::to_string(format) + ", this version of Pagoda reads format " +
                std::to_string(kFormat));
  }
  Checkpoint checkpoint{.model = fields.tensors("model"),
                        .average = fields.tensors("average"),
                        .optimizer = fields.tensors("optimizer"),
                        .torch_optimizer = fields.bytes("torch_optimizer"),
                        .step = fields.integer("step"),
                        .epoch = fields.integer("epoch"),
                        .consumed = fields.integer("consumed"),
                        .samples = fields.number("samples"),
                        .seed = static_cast<std::uint64_t>(fields.integer("seed")),
                        .towers = fields.integer("towers"),
                        .best = std::nullopt,
                        .best_step = fields.integer("best_step"),
                        .stale_validations = fields.integer("stale_validations"),
                        .config = fields.text("config")};
  if (!fields.get("best").isNone()) checkpoint.best = fields.number("best");
  if (!fields.has("rate_factor")) return checkpoint;  // written before there was one
  if (!fields.get("lowest_loss").isNone()) checkpoint.lowest_loss = fields.number("lowest_loss");
  checkpoint.stalled_validations = fields.integer("stalled_validations");
  checkpoint.rate_factor = fields.number("rate_factor");
  return checkpoint;
}

}  // namespace pagoda
