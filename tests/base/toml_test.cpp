#include <pagoda/base/error.h>
#include <pagoda/base/toml.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace toml_test {

const TomlEntry* find(const TomlFile& file, const std::string& name) {
  for (const TomlEntry& entry : file.entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::string message(const std::string& text) {
  try {
    parse_toml(text, "my.toml");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

/// What is read of a value that was written.
TomlValue again(const TomlValue& value) {
  return parse_toml("a = " + toml_text(value) + " # end\n", "here").entries.at(0).value;
}

TEST(TomlTest, EntriesHaveTheirValuesAndPlacesInTheOrderOfTheFile) {
  const TomlFile file = parse_toml(
      "\xEF\xBB\xBF"
      "z = 1\r\n\r\n# a comment\r\nname = 'a # b'  # another\r\n"
      "  list = [\"é\", 2, 0.5,\r\n   true]\r\nrate = 1e-3\r\non = false\r\n",
      "here");
  ASSERT_EQ(file.entries.size(), 5u);
  EXPECT_EQ(file.entries[0].name, "z");
  EXPECT_EQ(file.entries[0].value, TomlValue(std::int64_t{1}));
  EXPECT_EQ(file.entries[1].value, TomlValue(std::string("a # b")));
  EXPECT_EQ(file.entries[1].text, "'a # b'");
  EXPECT_EQ(file.entries[2].value,
            TomlValue(std::vector<TomlValue>{std::string("é"), std::int64_t{2}, 0.5, true}));
  EXPECT_EQ(file.entries[2].text, "[\"é\", 2, 0.5,\r\n   true]");
  EXPECT_EQ(toml_place("here", file.entries[2]), "here:5:3");
  EXPECT_EQ(file.entries[3].value, TomlValue(1e-3));
  EXPECT_EQ(file.entries[3].text, "1e-3");
  EXPECT_EQ(file.entries[4].value, TomlValue(false));
  EXPECT_TRUE(file.sections.empty());
}

TEST(TomlTest, SectionsHaveEntriesOfTheirOwn) {
  const TomlFile file =
      parse_toml("a = 1\n[[file]]\nb = 2\n[[file]]\nb = 3\n[run]\nc = 'x'\n", "here");
  EXPECT_EQ(file.entries.size(), 1u);
  ASSERT_EQ(file.sections.size(), 3u);
  EXPECT_EQ(file.sections[0].name, "file");
  EXPECT_EQ(file.sections[1].entries.at(0).value, TomlValue(std::int64_t{3}));
  EXPECT_EQ(file.sections[2].name, "run");
  EXPECT_EQ(file.sections[2].line, 6u);
}

TEST(TomlTest, ErrorsSayWhereAndWhatIsExpected) {
  const std::string rest =
      "; a value is text in quotation marks, a number, true or false, or a list of these";
  EXPECT_TRUE(message("a = 1\nlr =\n").starts_with("my.toml:2:5: 'lr =' is not TOML: "))
      << message("a = 1\nlr =\n");
  EXPECT_TRUE(message("a = 1\nlr =\n").ends_with(rest));
  EXPECT_TRUE(message("a = 1\nb = 2\na = 3\n").starts_with("my.toml:3:")) << "a name twice";
  EXPECT_EQ(message("day = 2020-01-01\n"),
            "my.toml:1:7: 2020-01-01 is a date or a time, which must stand in quotation marks");
  EXPECT_EQ(message("'é' = 1\né = 1\n"),
            "my.toml:2:1: this character must stand in quotation marks");
  EXPECT_EQ(message("a = [1, [2]]\n"), "my.toml:1:9: a is a list in a list" + rest);
  EXPECT_EQ(message("a = {b = 1}\n"), "my.toml:1:5: a is a table" + rest);
  EXPECT_EQ(message("[a.b]\nc = 1\n").substr(0, 10), "my.toml:1:");
  EXPECT_EQ(message("a = 'é'\nb = 'é\xFF'\n"), "my.toml:2:7: this byte is not UTF-8");
  EXPECT_EQ(message(std::string("a = 'x\0'\n", 9)),
            "my.toml:1:7: a byte is zero; the file is no text");
  EXPECT_NE(message("seed = 18446744073709551615\n").find("64 bits"), std::string::npos);
  for (const std::string line : {"[= 1", "[", "[[", "[,"})
    EXPECT_EQ(message("a = 1\nb = 2\n" + line + "\nd = 4\n"),
              "my.toml:3:1: '" + line + "' is not TOML" + rest);
  EXPECT_NE(message("a = \"never ends\n"), "");
  EXPECT_NE(message("a = bare\n"), "");
  EXPECT_NE(message("a 1\n"), "");
  EXPECT_NE(message("= 1\n"), "");
}

TEST(TomlTest, QuotationMarksInsideOfAValueDoNotQuoteWhatFollows) {
  for (const std::string quoted : {"é", "Û", "\u00A0", "\u2003", "\u3000", "日", "\U0001F600"}) {
    for (const std::string value :
         {R"(1"x")", "1'x'", R"(true"x")", R"(0x1="x")", "1\x02[\"\"\"x\"\"\""}) {
      std::string line = "a = " + value;
      line.replace(line.find('x', line.find_first_of("\"'")), 1, quoted);
      const std::string found = message("b = 'é'\n" + line + "\n");
      EXPECT_TRUE(found.starts_with("my.toml:2:")) << found;
      EXPECT_NE(found.find("'" + line + "' is not TOML"), std::string::npos) << found;
    }
  }
}

TEST(TomlTest, LongLinesAreCutInMessages) {
  std::string text = "a ";
  for (int i = 0; i < 1000; ++i) text += "'é'";
  EXPECT_LT(message(text).size(), 300u);
}

TEST(TomlTest, HugeAndDeepTextsAreRefusedBeforeTheyAreTakenApart) {
  EXPECT_EQ(message(std::string(kMostTomlBytes + 1, '#')),
            "my.toml has more than 16777216 bytes; it is no file of options");
  const std::string deep = "my.toml:1:";
  const std::string why = ": lists, tables or names are nested more than 16 deep";
  EXPECT_EQ(message("a = " + std::string(100'000, '[')), deep + "21" + why);
  std::string names = "a";
  std::string tables = "a = ";
  std::string section = "[a";
  for (int i = 0; i < 100'000; ++i) names += ".a", section += ".\"a\"", tables += "{a = ";
  EXPECT_EQ(message(names + " = 1\n"), deep + "1" + why);
  EXPECT_TRUE(message(tables).ends_with(why));
  EXPECT_TRUE(message(section + "]\n").ends_with(why));
}

TEST(TomlTest, AwkwardTextIsReadAsItWasWritten) {
  std::vector<std::string> texts{"",
                                 "#",
                                 "a # b",
                                 "\"",
                                 "\\",
                                 "C:\\temp\\new",
                                 "\"\"\"",
                                 "'''",
                                 "1e5",
                                 "true",
                                 "nan",
                                 "[a, b]",
                                 "{",
                                 " a ",
                                 "\t\r\n",
                                 "日本 é \U0001F600",
                                 "a = b",
                                 ",",
                                 "\\u0041",
                                 "\x01\x02\x1f\x7f",
                                 "\xC2\x80\xC2\x85",
                                 "\xEF\xBB\xBF",
                                 "%s",
                                 "${HOME}",
                                 "\b\f"};
  const std::vector<std::string> parts{"\"", "\\", "#",   "\n",   "\r",   "\t",        "'",
                                       "é",  "n",  "u00", " ",    "=",    "[",         "]",
                                       ",",  "{",  ".",   "\x7f", "\x1b", "\U0001F600"};
  std::mt19937 random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    for (std::uint32_t length = random() % 12; length > 0; --length)
      text += parts[random() % parts.size()];
    texts.push_back(text);
  }
  std::vector<TomlValue> all;
  for (const auto& text : texts) {
    EXPECT_EQ(again(text), TomlValue(text)) << toml_text(text);
    EXPECT_EQ(toml_text(text).find('\n'), std::string::npos);
    all.emplace_back(text);
  }
  EXPECT_EQ(again(all), TomlValue(all));
  EXPECT_THROW(toml_text(std::string("a\xFF")), UsageError);
}

TEST(TomlTest, NumbersAreReadAsTheyWereWritten) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-7}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(again(number), TomlValue(number));
  }
  for (const double number :
       {0.1, 1e-3, 1e-300, 5e-324, 1.7976931348623157e308, -0.1, 1.0 / 3, 1e22, 123456.789}) {
    EXPECT_EQ(again(number), TomlValue(number)) << toml_text(number);
  }
  EXPECT_EQ(toml_text(25.0), "25");
  EXPECT_TRUE(std::isnan(std::get<double>(again(std::nan("")))));
  EXPECT_EQ(again(-std::numeric_limits<double>::infinity()),
            TomlValue(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(again(true), TomlValue(true));
  EXPECT_EQ(toml_text(std::vector<TomlValue>{}), "[]");
  EXPECT_EQ(find(parse_toml("a = 1", "here"), "b"), nullptr);
}

}  // namespace toml_test
}  // namespace pagoda
