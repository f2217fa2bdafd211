#include "program/argument_reader.h"

#include <pagoda/base/error.h>

#include <cmath>

#include <gtest/gtest.h>

namespace pagoda {
namespace argument_reader_test {

using Kind = GraphArgument::Kind;

GraphArgument read(const std::string& text) { return read_argument(parse_json(text, "test")); }

TEST(ArgumentReaderTest, LiteralsBecomeValuesOfLibTorch) {
  EXPECT_TRUE(read(R"({"as_none": true})").literal.isNone());
  EXPECT_EQ(read(R"({"as_int": -3})").literal.toInt(), -3);
  EXPECT_EQ(read(R"({"as_float": 2})").literal.toDouble(), 2.0);
  EXPECT_TRUE(std::isinf(read(R"({"as_float": "-Infinity"})").literal.toDouble()));
  EXPECT_TRUE(std::isnan(read(R"({"as_float": "NaN"})").literal.toDouble()));
  EXPECT_EQ(read(R"({"as_string": "none"})").literal.toStringRef(), "none");
  EXPECT_EQ(read(R"({"as_scalar_type": 7})").literal.toInt(),
            static_cast<std::int64_t>(at::kFloat));
  EXPECT_EQ(read(R"({"as_complex": {"real": 1, "imag": 2.5}})").literal.toComplexDouble(),
            c10::complex<double>(1, 2.5));
}

TEST(ArgumentReaderTest, ValuesAndListsKeepTheirNames) {
  EXPECT_EQ(read(R"({"as_tensor": {"name": "x"}})").name, "x");
  EXPECT_FALSE(read(R"({"as_tensor": {"name": "x"}})").is_number);
  EXPECT_TRUE(read(R"({"as_sym_int": {"as_name": "n"}})").is_number);
  const GraphArgument sizes = read(R"({"as_sym_ints": [{"as_name": "n"}, {"as_int": 4}]})");
  ASSERT_EQ(sizes.items.size(), 2);
  EXPECT_EQ(sizes.items[0].kind, Kind::value);
  EXPECT_EQ(sizes.items[1].literal.toInt(), 4);
  const GraphArgument optional =
      read(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "i"}}]})");
  EXPECT_TRUE(optional.items[0].literal.isNone());
  EXPECT_EQ(optional.items[1].name, "i");
  EXPECT_EQ(read(R"({"as_int_lists": [[1, 2], [3]]})").items[1].items[0].literal.toInt(), 3);
}

TEST(ArgumentReaderTest, UnknownKindsAreNotedAndNonsenseIsRefused) {
  EXPECT_EQ(read(R"({"as_custom_obj": {"name": "o", "class_fqn": "C"}})").kind, Kind::unsupported);
  EXPECT_EQ(read(R"({"as_device": {"type": "cuda", "index": 3}})").kind, Kind::device);
  for (const char* text : {"{}", "3", R"({"as_int": 1, "as_bool": true})", R"({"as_int": "x"})",
                           R"({"as_tensor": {}})", R"({"as_scalar_type": 99})",
                           R"({"as_ints": [1, "a"]})", R"({"as_float": "Huge"})"}) {
    EXPECT_THROW(read(text), DataError) << text;
  }
}

}  // namespace argument_reader_test
}  // namespace pagoda
