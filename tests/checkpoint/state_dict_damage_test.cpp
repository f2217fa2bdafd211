// A weights file that was damaged in any way is refused, or gives the values that were saved.

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace state_dict_damage_test {

using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

/// Two values and a bias: its file is small enough to damage it everywhere.
torch::nn::Linear make_tiny() { return torch::nn::Linear(2, 1); }

void fill(torch::nn::LinearImpl& model, double value) {
  for (at::Tensor& tensor : model.parameters()) tensor.detach().fill_(value);
}

bool all_values_are(const torch::nn::LinearImpl& model, double value) {
  return model.weight.eq(value).all().item<bool>() && model.bias.eq(value).all().item<bool>();
}

bool same_values(const torch::nn::LinearImpl& a, const torch::nn::LinearImpl& b) {
  return a.weight.equal(b.weight) && a.bias.equal(b.bias);
}

/// Loads the damaged bytes into a model of nines: true when that fails and changes nothing.
bool is_refused(const std::string& bytes, const std::filesystem::path& path,
                torch::nn::Linear& model) {
  write_file(path, bytes);
  fill(*model, 9);
  try {
    load_state_dict(*model, path);
  } catch (const DataError&) {
    EXPECT_TRUE(all_values_are(*model, 9));
    return true;
  } catch (const IoError&) {
    EXPECT_TRUE(all_values_are(*model, 9));
    return true;
  }
  return false;
}

TEST(StateDictDamageTest, AFlippedBitNeverGivesOtherValues) {
  const ScratchDirectory scratch;
  const torch::nn::Linear saved = make_tiny();
  save_state_dict(*saved, scratch / "model.pt");
  const std::string bytes = read_file(scratch / "model.pt");
  torch::nn::Linear model = make_tiny();
  std::size_t refused = 0;
  const std::size_t directory = bytes.find("PK\1\2");  // what readers trust most
  ASSERT_LT(directory, bytes.size());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    if (bit / 8 < directory && bit % 8 != bit / 8 % 8) continue;  // elsewhere one bit of each byte
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    if (is_refused(damaged, scratch / "damaged.pt", model)) {
      ++refused;
    } else {
      ASSERT_TRUE(same_values(*model, *saved)) << "bit " << bit % 8 << " of byte " << bit / 8;
    }
  }
  EXPECT_GT(refused, bytes.size()) << "the rest is padding and what nobody reads";
}

TEST(StateDictDamageTest, ALostBlockNeverGivesOtherValues) {
  const ScratchDirectory scratch;
  const torch::nn::Linear saved = make_tiny();
  save_state_dict(*saved, scratch / "model.pt");
  const std::string bytes = read_file(scratch / "model.pt");
  torch::nn::Linear model = make_tiny();
  for (const std::size_t block : {16, 64, 512}) {
    for (std::size_t at = 0; at < bytes.size(); at += block) {
      std::string damaged = bytes;
      damaged.replace(at, block, std::string(std::min(block, bytes.size() - at), '\0'));
      if (!is_refused(damaged, scratch / "damaged.pt", model)) {
        ASSERT_TRUE(same_values(*model, *saved)) << block << " bytes at " << at;
      }
    }
  }
}

TEST(StateDictDamageTest, EveryTruncationIsRefused) {
  const ScratchDirectory scratch;
  save_state_dict(*make_tiny(), scratch / "model.pt");
  const std::string bytes = read_file(scratch / "model.pt");
  torch::nn::Linear model = make_tiny();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_TRUE(is_refused(bytes.substr(0, length), scratch / "cut.pt", model))
        << length << " bytes";
  }
}

}  // namespace state_dict_damage_test
}  // namespace pagoda
