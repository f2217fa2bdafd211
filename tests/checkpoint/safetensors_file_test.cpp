#include "checkpoint/safetensors_file.h"

#include <pagoda/base/error.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/python_script.h"
#include "support/safetensors_bytes.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace safetensors_file_test {

using testing::FullDisk;
using testing::message_of;
using testing::read_file;
using testing::run_with_torch;
using testing::ScratchDirectory;
using testing::write_file;

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return left.scalar_type() == right.scalar_type() && left.sizes() == right.sizes() &&
         std::string_view(static_cast<const char*>(left.const_data_ptr()), left.nbytes()) ==
             std::string_view(static_cast<const char*>(right.const_data_ptr()), right.nbytes());
}

/// One of every kind: types, empty and scalar ones, odd names, views that are not contiguous.
std::vector<NamedTensor> varied() {
  const at::Tensor numbers = torch::arange(-5, 6, torch::kDouble).view({11, 1}) / 4;
  std::vector<NamedTensor> tensors;
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16,
                          at::ScalarType::Float8_e4m3fn, at::ScalarType::Float8_e5m2, at::kLong,
                          at::kInt, at::kShort, at::kChar, at::kBool, at::kComplexFloat})
    tensors.push_back({std::string("type.") + c10::toString(type), numbers.to(type)});
  tensors.push_back({"u8", torch::arange(7, torch::kByte)});
  tensors.push_back({"u16", torch::arange(5, torch::kShort).view(at::ScalarType::UInt16)});
  tensors.push_back({"scalar", torch::tensor(2.5)});
  tensors.push_back({"empty", torch::zeros({3, 0, 2})});
  tensors.push_back({"a \"quoted\" \\ name\n", torch::ones({1})});
  tensors.push_back({"塔.é", torch::ones({2})});
  tensors.push_back({"", torch::ones({3})});
  tensors.push_back({"transposed", torch::arange(6.0).view({2, 3}).t()});
  tensors.push_back({"conjugate", torch::complex(numbers, numbers).to(at::kComplexFloat).conj()});
  return tensors;
}

at::Tensor named(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& entry : tensors) {
    if (entry.name == name) return entry.tensor;
  }
  return {};
}

TEST(SafetensorsFileTest, RoundTripsGiveTheSameBits) {
  const ScratchDirectory scratch;
  const auto saved = varied();
  write_safetensors(saved, scratch / "a.safetensors");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.safetensors"});
  const WeightsFile read = read_safetensors(scratch / "a.safetensors");
  ASSERT_EQ(read.tensors.size(), saved.size());
  for (const auto& [name, tensor] : saved)
    EXPECT_TRUE(same_bits(named(read.tensors, name), tensor.resolve_conj())) << name;
  EXPECT_EQ(read.metadata.at("format"), "pt");

  write_safetensors(read.tensors, scratch / "b.safetensors");
  EXPECT_EQ(read_file(scratch / "b.safetensors"), read_file(scratch / "a.safetensors"));
  write_safetensors({}, scratch / "none.safetensors");
  EXPECT_TRUE(read_safetensors(scratch / "none.safetensors").tensors.empty());
}

TEST(SafetensorsFileTest, TensorsKeepTheFileAliveAndChangeOnlyInMemory) {
  const ScratchDirectory scratch;
  const auto path = scratch / "a.safetensors";
  write_safetensors({{"x", torch::arange(5.0)}}, path);
  const std::string before = read_file(path);
  const at::Tensor x = read_safetensors(path).tensors.at(0).tensor;
  std::filesystem::remove(path);
  x.mul_(2);
  EXPECT_TRUE(x.equal(torch::arange(5.0) * 2));
  write_safetensors({{"x", torch::arange(5.0)}}, path);
  EXPECT_EQ(read_file(path), before);
}

TEST(SafetensorsFileTest, TensorsThatAreNotAlignedAreReadAllTheSame) {
  const ScratchDirectory scratch;
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})";
  write_file(scratch / "a.safetensors",
             testing::safetensors_bytes(header, std::string("\7\0\0\0\0\0\0\xf8\x3f", 9)));
  const auto read = read_safetensors(scratch / "a.safetensors").tensors;
  EXPECT_EQ(named(read, "a").item<int>(), 7);
  EXPECT_EQ(named(read, "b").item<double>(), 1.5);
}

TEST(SafetensorsFileTest, WhatCannotBeWrittenLeavesTheOldFile) {
  const ScratchDirectory scratch;
  const auto path = scratch / "a.safetensors";
  write_safetensors({{"x", torch::ones({3})}}, path);
  const std::string before = read_file(path);
  {
    const FullDisk disk(1000);
    EXPECT_THROW(write_safetensors({{"x", torch::ones({1000})}}, path), IoError);
  }
  EXPECT_THROW(write_safetensors({{"x", torch::ones({1}, torch::kComplexDouble)}}, path),
               UsageError);
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.safetensors"});
}

TEST(SafetensorsFileTest, ADamagedFileNamesItself) {
  const ScratchDirectory scratch;
  const auto path = scratch / "a.safetensors";
  write_safetensors({{"x", torch::ones({3})}}, path);
  const std::string bytes = read_file(path);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_file(path, bytes.substr(0, size));
    EXPECT_TRUE(
        message_of<DataError>([&] { read_safetensors(path); }).starts_with(path.string() + " is"))
        << size;
  }
}

TEST(SafetensorsFileTest, PythonReadsWhatWeWriteAndWeReadWhatItWrites) {
  const ScratchDirectory scratch;
  const auto saved = varied();
  write_safetensors(saved, scratch / "ours.safetensors");
  const auto code = run_with_torch(scratch, R"(
import os
if importlib.util.find_spec('safetensors') is None: sys.exit(77)
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
os.chdir(sys.argv[1])
read = load_file("ours.safetensors")
with safe_open("ours.safetensors", "pt") as file:
    assert file.metadata() == {"format": "pt"}, file.metadata()
assert read["scalar"].shape == () and read["scalar"].item() == 2.5
assert read["empty"].shape == (3, 0, 2)
assert read["transposed"].tolist() == [[0, 3], [1, 4], [2, 5]]
assert read["type.BFloat16"].dtype == torch.bfloat16 and read["type.BFloat16"][0].item() == -1.25
assert read["conjugate"][0].item() == -1.25 + 1.25j
assert 'a "quoted" \\ name\n' in read and "塔.é" in read and "" in read
save_file(read, "theirs.safetensors", metadata={"format": "pt", "by": 'Py "3"'})
)",
                                   scratch.path());
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch and safetensors";
  ASSERT_EQ(*code, 0);
  const WeightsFile theirs = read_safetensors(scratch / "theirs.safetensors");
  ASSERT_EQ(theirs.tensors.size(), saved.size());
  for (const auto& [name, tensor] : saved)
    EXPECT_TRUE(same_bits(named(theirs.tensors, name), tensor.resolve_conj())) << name;
  EXPECT_EQ(theirs.metadata.at("by"), "Py \"3\"");
}

}  // namespace safetensors_file_test
}  // namespace pagoda
