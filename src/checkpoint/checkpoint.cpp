#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>

#include <map>
#include <string_view>

#include "base/quoted_text.h"
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
  Fields(const PickleValue& value, const std::filesystem::path& path) : path_(path) {
    const auto* dict = value.as<PickleValue::Dict>();
    if (dict == nullptr) fail("is not a checkpoint, but " + std::string(value.kind()));
    for (const auto& [name, entry] : *dict) entries_.emplace(name, &entry);
  }

  bool has(const char* name) const { return entries_.contains(name); }

  bool is_none(const char* name) const { return get(name).as<PickleValue::None>() != nullptr; }

  std::int64_t integer(const char* name) const {
    return get_as<std::int64_t>(name, "a whole number");
  }

  double number(const char* name) const { return get_as<double>(name, "a number"); }

  std::string text(const char* name) const { return get_as<std::string>(name, "text"); }

  std::vector<NamedTensor> tensors(const char* name) const {
    std::vector<NamedTensor> tensors;
    for (const auto& [key, value] : get_as<PickleValue::Dict>(name, "a dict of tensors")) {
      const auto* tensor = value.as<at::Tensor>();
      if (tensor == nullptr) {
        fail("is not a checkpoint: entry " + quoted_text(key) + " of '" + name + "' is " +
             value.kind() + ", not a tensor");
      }
      tensors.push_back({key, *tensor});
    }
    return tensors;
  }

  /// Undefined where there is none.
  at::Tensor bytes(const char* name) const {
    if (!has(name) || is_none(name)) return {};  // files from before there were any have no entry
    const auto& tensor = get_as<at::Tensor>(name, "a tensor of bytes");
    if (tensor.scalar_type() != at::kByte || tensor.dim() != 1 || !tensor.is_contiguous())
      fail_field(name, "a row of bytes");
    return tensor;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(path_.string() + " " + what);
  }

 private:
  const PickleValue& get(const char* name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) fail("is not a checkpoint: it has no '" + std::string(name) + "'");
    return *found->second;
  }

  template <class Kind>
  const Kind& get_as(const char* name, const char* expected) const {
    const auto* value = get(name).as<Kind>();
    if (value == nullptr) fail_field(name, expected);
    return *value;
  }

  [[noreturn]] void fail_field(const char* name, const char* expected) const {
    fail("is not a checkpoint: '" + std::string(name) + "' is " + get(name).kind() + ", not " +
         expected);
  }

  const std::filesystem::path& path_;
  std::map<std::string_view, const PickleValue*> entries_;
};

void check_format(std::int64_t format, const std::filesystem::path& path) {
  if (format == kFormat) return;
  const std::string what = path.string() + " has format " + std::to_string(format) +
                           ", this version of Pagoda reads format " + std::to_string(kFormat);
  if (format < kFormat) throw DataError(what + "; use another copy");
  throw NewerFormatError(what + "; go on with a newer version of Pagoda, or in another directory");
}

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
  const PickleValue value = read_pickle(path);
  const Fields fields(value, path);
  check_format(fields.integer("format"), path);
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
  if (!fields.is_none("best")) checkpoint.best = fields.number("best");
  if (!fields.has("rate_factor")) return checkpoint;  // written before there was one
  if (!fields.is_none("lowest_loss")) checkpoint.lowest_loss = fields.number("lowest_loss");
  checkpoint.stalled_validations = fields.integer("stalled_validations");
  checkpoint.rate_factor = fields.number("rate_factor");
  return checkpoint;
}

}  // namespace pagoda
