#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/python_script.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace state_dict_test {

using Names = std::vector<std::string>;

using testing::FullDisk;
using testing::Images;
using testing::message_of;
using testing::Mlp;
using testing::read_file;
using testing::run_with_torch;
using testing::ScratchDirectory;
using testing::Tied;

/// Two values and a bias.
struct TinyImpl : torch::nn::Module {
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(2, 1));
};
TORCH_MODULE(Tiny);

/// Everything that a state dict may hold: parameters, frozen and empty ones, buffers of other
/// types, a buffer that is not there.
struct VariedImpl : torch::nn::Module {
  VariedImpl() {
    register_parameter("frozen", torch::randn({3}, torch::kDouble), /*requires_grad=*/false);
  }

  torch::nn::Conv2d conv = register_module("conv", torch::nn::Conv2d(2, 3, 3));
  torch::nn::BatchNorm2d norm = register_module("norm", torch::nn::BatchNorm2d(3));
  torch::nn::BatchNorm1d stateless = register_module(
      "stateless",
      torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(4).track_running_stats(false)));
  at::Tensor empty = register_parameter("empty", torch::zeros({0, 5}));
  at::Tensor mask = register_buffer("mask", torch::randn({7}) > 0);
  at::Tensor half = register_buffer("half", torch::randn({5}).to(torch::kHalf));
};
TORCH_MODULE(Varied);

/// Parameters and buffers by name.
std::map<std::string, at::Tensor> tensors_of(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : module.named_parameters()) tensors[item.key()] = item.value().detach();
  for (const auto& item : module.named_buffers()) tensors[item.key()] = item.value();
  return tensors;
}

void fill(torch::nn::Module& module, double value) {
  for (auto& [name, tensor] : tensors_of(module)) tensor.fill_(value);
}

bool same_values(const torch::nn::Module& a, const torch::nn::Module& b) {
  const auto left = tensors_of(a);
  const auto right = tensors_of(b);
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(),
      [](const auto& x, const auto& y) { return x.first == y.first && x.second.equal(y.second); });
}

bool all_values_are(const torch::nn::Module& module, double value) {
  for (const auto& [name, tensor] : tensors_of(module)) {
    if (!tensor.eq(value).all().item<bool>()) return false;
  }
  return true;
}

/// What plain LibTorch reads.
std::map<std::string, at::Tensor> plain_load(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& entry : torch::pickle_load({bytes.begin(), bytes.end()}).toGenericDict()) {
    tensors[entry.key().toStringRef()] = entry.value().toTensor();
  }
  return tensors;
}

template <class Model>
void expect_round_trip() {
  const ScratchDirectory scratch;
  const Model saved;
  save_state_dict(*saved, scratch / "model.pt");
  EXPECT_EQ(scratch.names(), Names{"model.pt"});
  Model loaded;
  fill(*loaded, 1);
  load_state_dict(*loaded, scratch / "model.pt");
  EXPECT_TRUE(same_values(*loaded, *saved));

  const auto plain = plain_load(scratch / "model.pt");
  const auto expected = tensors_of(*saved);
  ASSERT_EQ(plain.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    EXPECT_TRUE(plain.at(name).equal(tensor)) << name;
    EXPECT_TRUE(plain.at(name).is_contiguous()) << name;
  }
}

/// The tensors with a prefix before their names.
std::vector<NamedTensor> prefixed(const std::string& prefix, std::vector<NamedTensor> tensors) {
  for (auto& entry : tensors) entry.name = prefix + entry.name;
  return tensors;
}

/// Holds no tensor.
struct NothingImpl : torch::nn::Module {};
TORCH_MODULE(Nothing);

TEST(StateDictTest, RoundTripsGiveTheSameBits) {
  expect_round_trip<Tiny>();
  expect_round_trip<Varied>();
  expect_round_trip<Images>();
  expect_round_trip<Tied>();
  expect_round_trip<Nothing>();
}

TEST(StateDictTest, TheExtensionSaysWhatFileItIs) {
  const ScratchDirectory scratch;
  const Varied saved;
  for (const char* name : {"model.safetensors", "model.pt", "model"}) {
    save_state_dict(*saved, scratch / name);
    const bool is_archive = read_file(scratch / name).starts_with("PK");
    EXPECT_EQ(is_archive, name != std::string("model.safetensors")) << name;
    EXPECT_EQ(read_weights(scratch / name).tensors.size(), tensors_of(*saved).size());
    Varied loaded;
    fill(*loaded, 1);
    load_state_dict(*loaded, scratch / name);
    EXPECT_TRUE(same_values(*loaded, *saved)) << name;
  }
  save_state_dict(prefixed("module.", state_dict(*Mlp())), scratch / "mlp.safetensors");
  Mlp other;
  fill(*other, 5);
  EXPECT_NE(message_of<DataError>([&] { load_state_dict(*other, scratch / "mlp.safetensors"); })
                .find("mlp.safetensors has no tensor of the model: its names are such as "
                      "'module.hidden.bias'"),
            std::string::npos);
  load_state_dict(*other, scratch / "mlp.safetensors", {.remove_prefix = "module."});
  EXPECT_FALSE(all_values_are(*other, 5));
}

TEST(StateDictTest, LoadsInPlace) {
  const ScratchDirectory scratch;
  save_state_dict(*Mlp(), scratch / "model.pt");
  Mlp model;
  const void* before = model->hidden->weight.const_data_ptr();
  load_state_dict(*model, scratch / "model.pt");
  EXPECT_EQ(model->hidden->weight.const_data_ptr(), before);
  EXPECT_TRUE(model->hidden->weight.requires_grad());
}

TEST(StateDictTest, ImagesInChannelsLastComeOutContiguous) {
  const ScratchDirectory scratch;
  Images saved;
  saved->to(torch::kDouble);
  saved->conv->weight.set_data(saved->conv->weight.contiguous(torch::MemoryFormat::ChannelsLast));
  ASSERT_FALSE(saved->conv->weight.is_contiguous());
  save_state_dict(*saved, scratch / "model.pt");
  const at::Tensor plain = plain_load(scratch / "model.pt").at("conv.weight");
  EXPECT_TRUE(plain.is_contiguous());
  EXPECT_TRUE(plain.equal(saved->conv->weight));

  Images loaded;
  loaded->to(torch::kDouble);
  loaded->conv->weight.set_data(loaded->conv->weight.contiguous(torch::MemoryFormat::ChannelsLast));
  load_state_dict(*loaded, scratch / "model.pt");
  EXPECT_TRUE(same_values(*loaded, *saved));
  EXPECT_FALSE(loaded->conv->weight.is_contiguous());
}

TEST(StateDictTest, TiedWeightsStandUnderAllTheirNamesAndStayTied) {
  const ScratchDirectory scratch;
  const Tied saved;
  save_state_dict(*saved, scratch / "model.pt");
  const auto plain = plain_load(scratch / "model.pt");
  EXPECT_TRUE(plain.at("table").equal(plain.at("same_table")));
  Tied loaded;
  load_state_dict(*loaded, scratch / "model.pt");
  EXPECT_TRUE(loaded->table.is_same(loaded->same_table));
}

TEST(StateDictTest, ReadsWhatPythonWrote) {
  const ScratchDirectory scratch;
  const auto code = run_with_torch(scratch, R"(
import os, torch
os.chdir(sys.argv[1])
model = torch.nn.Sequential()
model.layer = torch.nn.Linear(2, 1)
model.layer.weight.data = torch.tensor([[0.5, -2.0]])
model.layer.bias.data = torch.tensor([3.0])
torch.save(dict(model.state_dict()), "dict.pt")
for protocol in (2, 3, 4, 5):
    torch.save(model.state_dict(), f"ordered{protocol}.pt", pickle_protocol=protocol)
torch.save(dict(model.named_parameters()), "parameters.pt")
row = torch.tensor([9.0, 0.5, 3.0, -2.0])
torch.save({"layer.weight": row[1::2].reshape(1, 2), "layer.bias": row[2:3]}, "views.pt")
torch.save(torch.nn.DataParallel(model).state_dict(), "parallel.pt")
torch.save(model.state_dict(), "old.pt", _use_new_zipfile_serialization=False)
torch.save(model, "model.pt")
torch.save({"model": model.state_dict(), "epoch": 3}, "checkpoint.pt")
)",
                                   scratch.path());
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch";
  ASSERT_EQ(*code, 0);

  for (const char* name : {"dict.pt", "ordered2.pt", "ordered3.pt", "ordered4.pt", "ordered5.pt",
                           "parameters.pt", "views.pt", "parallel.pt"}) {
    Tiny model;
    const bool is_parallel = name == std::string("parallel.pt");
    load_state_dict(*model, scratch / name, {.remove_prefix = is_parallel ? "module." : ""});
    EXPECT_TRUE(model->layer->weight.equal(torch::tensor({{0.5, -2.0}}, torch::kFloat))) << name;
    EXPECT_TRUE(model->layer->bias.equal(torch::tensor({3.0}, torch::kFloat))) << name;
  }
  const std::pair<const char*, const char*> refused[] = {
      {"old.pt", "old format"},
      {"model.pt", "'torch.nn.modules.container.Sequential'"},
      {"checkpoint.pt", "entry 'model' is a dict, not a tensor"}};
  for (const auto& [name, expected] : refused) {
    Tiny model;
    const std::string message =
        message_of<DataError>([&] { load_state_dict(*model, scratch / name); });
    EXPECT_NE(message.find(expected), std::string::npos) << name << ": " << message;
  }
}

/// Mlp with one parameter of another type, two of other shapes and two more.
struct OtherMlpImpl : testing::MlpImpl {
  OtherMlpImpl() {
    hidden->bias.set_data(hidden->bias.to(torch::kDouble));
    replace_module("output", torch::nn::Linear(7, 8));
  }
  torch::nn::Linear extra = register_module("extra", torch::nn::Linear(1, 1));
};

TEST(StateDictTest, AModelThatDoesNotFitIsADataErrorWithAllDifferences) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "model.pt";
  save_state_dict(*Mlp(), path);
  OtherMlpImpl other;
  fill(other, 5);
  EXPECT_EQ(message_of<DataError>([&] { load_state_dict(other, path); }),
            path +
                " does not fit the model:"
                "\n  extra.bias: missing in the file"
                "\n  extra.weight: missing in the file"
                "\n  hidden.bias: Float[7] in the file, Double[7] in the model"
                "\n  output.bias: Float[3] in the file, Float[8] in the model"
                "\n  output.weight: Float[3, 7] in the file, Float[8, 7] in the model");
  EXPECT_TRUE(all_values_are(other, 5));

  Nothing nothing;
  EXPECT_EQ(message_of<DataError>([&] { load_state_dict(*nothing, path); }),
            path +
                " does not fit the model:"
                "\n  hidden.bias: unknown to the model"
                "\n  hidden.weight: unknown to the model"
                "\n  output.bias: unknown to the model"
                "\n  output.weight: unknown to the model");
}

/// Tiny as a part of something larger.
struct WithHeadImpl : torch::nn::Module {
  Tiny backbone = register_module("backbone", Tiny());
  torch::nn::Linear head = register_module("head", torch::nn::Linear(1, 3));
};
TORCH_MODULE(WithHead);

TEST(StateDictTest, PrefixesAreRemovedAndAddedAndWhatIsLeftOverIsToldByName) {
  const ScratchDirectory scratch;
  const Tiny saved;
  auto tensors = prefixed("module.", state_dict(*saved));
  save_state_dict(tensors, scratch / "parallel.pt");
  tensors.push_back({"module.old_head", torch::ones({5})});
  save_state_dict(tensors, scratch / "parallel_with_head.pt");
  save_state_dict(*saved, scratch / "plain.pt");
  Tiny tiny;
  const LoadResult whole =
      load_state_dict(*tiny, scratch / "parallel.pt", {.remove_prefix = "module."});
  EXPECT_TRUE(same_values(*tiny, *saved));
  EXPECT_EQ(whole.missing, Names{});
  EXPECT_EQ(whole.unexpected, Names{});

  WithHead larger;
  fill(*larger->head, 7);
  const LoadResult part =
      load_state_dict(*larger, scratch / "parallel_with_head.pt",
                      {.strict = false, .remove_prefix = "module.", .add_prefix = "backbone."});
  EXPECT_TRUE(same_values(*larger->backbone, *saved));
  EXPECT_TRUE(all_values_are(*larger->head, 7));
  EXPECT_EQ(part.missing, (Names{"head.bias", "head.weight"}));
  EXPECT_EQ(part.unexpected, Names{"module.old_head"});

  fill(*larger, 5);  // what is not there is an error unless it is asked for
  const std::string path = scratch / "plain.pt";
  EXPECT_EQ(
      message_of<DataError>([&] { load_state_dict(*larger, path, {.add_prefix = "backbone."}); }),
      path +
          " does not fit the model:"
          "\n  head.bias: missing in the file"
          "\n  head.weight: missing in the file");
  EXPECT_TRUE(all_values_are(*larger, 5));
}

TEST(StateDictTest, NamesWithoutThePrefixAreNotTheModels) {
  const ScratchDirectory scratch;
  Tiny tiny;
  save_state_dict(
      {{"layer.bias", torch::full({1}, 8.0)}, {"module.layer.weight", torch::full({1, 2}, 9.0)}},
      scratch / "mixed.pt");
  fill(*tiny, 1);
  const LoadResult loaded =
      load_state_dict(*tiny, scratch / "mixed.pt", {.strict = false, .remove_prefix = "module."});
  EXPECT_TRUE(tiny->layer->weight.eq(9).all().item<bool>());
  EXPECT_EQ(tiny->layer->bias.item<float>(), 1);
  EXPECT_EQ(loaded.missing, Names{"layer.bias"});
  EXPECT_EQ(loaded.unexpected, Names{"layer.bias"});
}

TEST(StateDictTest, OtherShapesAndTypesAreRefusedHoweverLittleIsAskedFor) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "model.pt";
  save_state_dict(*Mlp(), path);
  OtherMlpImpl other;
  fill(other, 5);
  EXPECT_EQ(message_of<DataError>([&] { load_state_dict(other, path, {.strict = false}); }),
            path +
                " does not fit the model:"
                "\n  hidden.bias: Float[7] in the file, Double[7] in the model"
                "\n  output.bias: Float[3] in the file, Float[8] in the model"
                "\n  output.weight: Float[3, 7] in the file, Float[8, 7] in the model");
  EXPECT_TRUE(all_values_are(other, 5));
}

TEST(StateDictTest, AFileThatHasNothingOfTheModelIsRefusedWithWhatTheNamesAreLike) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "model.pt";
  save_state_dict(*Mlp(), path);
  Tiny tiny;
  fill(*tiny, 5);
  for (const bool strict : {true, false}) {
    EXPECT_EQ(message_of<DataError>([&] { load_state_dict(*tiny, path, {.strict = strict}); }),
              path +
                  " has no tensor of the model: its names are such as 'hidden.bias', the model's "
                  "such as 'layer.bias'; load another file, or with a prefix removed or added");
  }
  EXPECT_TRUE(all_values_are(*tiny, 5));
}

TEST(StateDictTest, AFileThatCannotBeWrittenIsAnIoErrorAndKeepsTheOld) {
  const ScratchDirectory scratch;
  const Tiny saved;
  save_state_dict(*saved, scratch / "model.pt");
  const std::string old = read_file(scratch / "model.pt");
  {
    const FullDisk full(old.size() - 1);
    EXPECT_THROW(save_state_dict(*Tiny(), scratch / "model.pt"), IoError);
  }
  EXPECT_THROW(save_state_dict(*saved, scratch / "missing" / "model.pt"), IoError);
  EXPECT_THROW(save_state_dict(*saved, scratch / "model.pt" / "below.pt"), IoError);
  EXPECT_EQ(read_file(scratch / "model.pt"), old);
  EXPECT_EQ(scratch.names(), Names{"model.pt"});
}

TEST(StateDictTest, AMissingFileIsAnIoError) {
  const ScratchDirectory scratch;
  Tiny model;
  EXPECT_THROW(load_state_dict(*model, scratch / "missing.pt"), IoError);
}

}  // namespace state_dict_test
}  // namespace pagoda
