#include <pagoda/base/temporary_directory.h>
#include <pagoda/cli/shell_completion.h>

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace pagoda {
namespace shell_completion_test {

CommandDescription sample() {
  CommandDescription train{
      .name = "my-thing train",
      .about = "Train: it's [quick]",
      .options = {
          {.names = {"--rate", "-r"}, .about = "how fast", .value = "FLOAT"},
          {.names = {"--how"}, .about = "well", .value = "TEXT", .words = {"well", "weakly"}},
          {.names = {"--out"}, .about = "where", .value = "TEXT"},
          {.names = {"--quick"}}}};
  return {
      .name = "my-thing",
      .about = "Does things.",
      .options = {{.names = {"--help"}}},
      .commands = {train,
                   {.name = "my-thing trace"},
                   {.name = "my-thing show", .arguments = {{.names = {"FILE"}, .value = "TEXT"}}},
                   {.name = "my-thing say",
                    .arguments = {{.names = {"WORD"}, .value = "TEXT", .words = {"yes", "no"}}}}}};
}

/// What bash offers for the last of the words, in its order.
std::string completed(const std::string& words) {
  const TemporaryDirectory directory("completion-test");
  const auto file = directory.path() / "completion";
  std::ofstream(file)
      << shell_completion(sample(), Shell::bash) << "COMP_WORDS=(" << words << ")\n"
      << "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_my_thing\necho \"${COMPREPLY[*]}\"\n";
  FILE* const shell = popen(("bash --norc " + file.string() + " 2>&1").c_str(), "r");
  char line[256] = "";
  EXPECT_NE(std::fgets(line, sizeof line, shell), nullptr);
  EXPECT_EQ(pclose(shell), 0);
  std::string text(line);
  return text.substr(0, text.find('\n'));
}

TEST(ShellCompletionTest, BashCompletesCommandsOptionsAndWords) {
  EXPECT_EQ(completed("my-thing tra"), "train trace");
  EXPECT_EQ(completed("my-thing ''"), "train trace show say");
  EXPECT_EQ(completed("my-thing --h"), "--help");
  EXPECT_EQ(completed("my-thing train --"), "--rate --how --out --quick");
  EXPECT_EQ(completed("my-thing train --how we"), "well weakly");
  EXPECT_EQ(completed("my-thing train --quick --how = wel"), "well") << "--how=wel";
  EXPECT_EQ(completed("my-thing train --how ="), "well weakly");
  EXPECT_EQ(completed("my-thing say ''"), "yes no");
}

TEST(ShellCompletionTest, BashLeavesFilesToItself) {
  EXPECT_EQ(completed("my-thing train --out ''"), "");
  EXPECT_EQ(completed("my-thing train --rate ''"), "");
  EXPECT_EQ(completed("my-thing show fi"), "");
}

TEST(ShellCompletionTest, DescriptionsAreQuoted) {
  const std::string zsh = shell_completion(sample(), Shell::zsh);
  EXPECT_TRUE(zsh.starts_with("#compdef my-thing\n"));
  EXPECT_NE(zsh.find(R"('train:Train\: it'\''s \[quick\]')"), std::string::npos) << zsh;
  EXPECT_NE(zsh.find("'--how=[well]:word:(well weakly)'"), std::string::npos) << zsh;
  const std::string fish = shell_completion(sample(), Shell::fish);
  EXPECT_NE(fish.find(R"(-f -a 'train' -d 'Train: it\'s [quick]')"), std::string::npos) << fish;
  EXPECT_NE(fish.find("-l rate -s r -x -d 'how fast'"), std::string::npos) << fish;
}

}  // namespace shell_completion_test
}  // namespace pagoda
