#include "data/npy_file.h"

#include <pagoda/base/error.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/npy_bytes.h"
#include "support/python_script.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace npy_file_test {

using testing::message_of;
using testing::npy_bytes;
using testing::npy_header;
using testing::read_file;
using testing::ScratchDirectory;
using Shape = std::vector<std::int64_t>;

std::string refusal(const std::string& bytes) {
  return message_of<DataError>([&] { parse_npy(bytes, "x.npy", "x"); });
}

std::string refusal(const std::string& type, const std::string& shape, const std::string& data) {
  return refusal(npy_bytes(npy_header(type, shape), data));
}

TEST(NpyFileTest, GivesTypeShapeAndBytes) {
  const std::string bytes = npy_bytes(npy_header("<i2", "(3, 1)"), "abcdef");
  const FileTensor tensor = parse_npy(bytes, "x.npy", "x");
  EXPECT_EQ(tensor.name, "x");
  EXPECT_EQ(tensor.type, at::kShort);
  EXPECT_EQ(tensor.shape, (Shape{3, 1}));
  EXPECT_EQ(tensor.bytes, "abcdef");
  EXPECT_TRUE(parse_npy(npy_bytes(npy_header("|u1", "()"), "a"), "", "").shape.empty());
  EXPECT_EQ(parse_npy(npy_bytes(npy_header("|u1", "(1,)"), "a"), "", "").shape, Shape{1});
  EXPECT_EQ(parse_npy(npy_bytes(npy_header("<f8", "(0,4)"), ""), "", "").shape, (Shape{0, 4}));
  const std::string terse = R"({"shape":(2),"fortran_order":True,"descr":"|b1"})";
  EXPECT_EQ(parse_npy(npy_bytes(terse, std::string("\0\1", 2)), "", "").type, at::kBool);
}

TEST(NpyFileTest, BadFilesAreRefused) {
  const std::string whole = npy_bytes(npy_header("<f4", "(3,)"), std::string(12, '\0'));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(refusal(whole.substr(0, size)).starts_with("x.npy is damaged")) << size;
  EXPECT_EQ(refusal("<f4", "(3,)", std::string(13, '\0')),
            "x.npy is damaged: Float [3] takes 12 bytes, but it has 13");
  EXPECT_EQ(refusal("<f4", "(4611686018427387904,4)", ""),
            "x.npy is damaged: Float [4611686018427387904, 4] takes more bytes than there are "
            "numbers for, but it has 0");
  EXPECT_EQ(refusal("|b1", "(1,)", "\2"), "x.npy holds truth values other than 0 and 1");
  EXPECT_NE(refusal(">f4", "(1,)", "abcd").find("big-endian"), std::string::npos);
  EXPECT_NE(refusal("|O", "(1,)", "abcd").find("pickled Python objects"), std::string::npos);
  EXPECT_NE(refusal("<U3", "(1,)", std::string(12, 'a')).find("'<U3', which is none"),
            std::string::npos);
  for (const char* shape :
       {"(-1,)", "(1.5,)", "(3L,)", "3", "[3]", "(3", "(,)", "(9999999999999999999,)"})
    EXPECT_NE(refusal("|u1", shape, "a").find("is not what numpy writes, at byte "),
              std::string::npos)
        << shape;
  for (const std::string header :
       {"", "{", "{'descr': '<f4'", "{'descr': '<f4', 'descr': '<f4'}", "{'other': 1}", "{} x",
        "{'fortran_order': Maybe}", "{descr: 1}", "{'descr'}"})
    EXPECT_NE(refusal(npy_bytes(header, "")).find("is not what numpy writes"), std::string::npos)
        << header;
  EXPECT_NE(refusal(npy_bytes("{}", "")).find("lacks descr"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes("{'descr': [('a', '<f4')]}", "")).find("several fields"),
            std::string::npos);
  std::string version = whole;
  version[6] = 4;
  EXPECT_NE(refusal(version).find("it has the version 4"), std::string::npos);
  const std::string columns = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }";
  EXPECT_NE(refusal(npy_bytes(columns, "abcdefgh")).find("ascontiguousarray"), std::string::npos);
}

TEST(NpyFileTest, ReadsWhatNumpyWrote) {
  const ScratchDirectory scratch;
  const auto code = testing::run_with_torch(scratch, R"(
import os, numpy
os.chdir(sys.argv[1])
x = numpy.arange(6, dtype=numpy.float32).reshape(3, 2)
numpy.save("x.npy", x)
numpy.save("columns.npy", numpy.asfortranarray(x))
numpy.savez("both.npz", x=x, **{"a b": numpy.arange(3), "one": numpy.float64(7), "t": numpy.array([True, False])})
numpy.savez_compressed("small.npz", x=x)
with open("second.npy", "wb") as file: numpy.lib.format.write_array(file, x, version=(2, 0))
)",
                                            scratch.path());
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch";
  ASSERT_EQ(*code, 0);
  for (const char* name : {"x.npy", "second.npy"}) {
    const std::string bytes = read_file(scratch / name);
    const FileTensor x = parse_npy(bytes, name, "x");
    EXPECT_EQ(x.shape, (Shape{3, 2}));
    EXPECT_EQ(tensor_of(x, nullptr).sum().item<float>(), 15);
  }
  const std::string archive = read_file(scratch / "both.npz");
  const auto tensors = parse_npz(archive, "both.npz");
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors[0].name, "a b");
  EXPECT_EQ(tensor_of(tensors[0], nullptr)[2].item<std::int64_t>(), 2);
  EXPECT_EQ(tensor_of(tensors[1], nullptr).item<double>(), 7);
  EXPECT_EQ(tensors[2].type, at::kBool);
  EXPECT_EQ(tensor_of(tensors[3], nullptr)[2][1].item<float>(), 5);
  EXPECT_NE(refusal(read_file(scratch / "columns.npy")).find("column by column"),
            std::string::npos);
  const std::string packed = read_file(scratch / "small.npz");
  EXPECT_NE(message_of<DataError>([&] { parse_npz(packed, "small.npz"); }).find("is compressed"),
            std::string::npos);

  std::string damaged = archive;
  damaged[damaged.find("\x93NUMPY") + 140] ^= 1;
  EXPECT_NE(message_of<DataError>([&] { parse_npz(damaged, "both.npz"); }).find("both.npz"),
            std::string::npos);
}

}  // namespace npy_file_test
}  // namespace pagoda
