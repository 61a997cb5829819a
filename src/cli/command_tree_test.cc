#include "cli/command_tree.h"

#include <gtest/gtest.h>

#include "cli/commands/commands.h"
#include "cli/commands/completion.h"
#include "cli/commands/man_page.h"
#include "cli/help_page.h"

namespace gw::cli {
namespace {

using testing::Test;

class CommandTreeTest : public Test {
 protected:
  CommandTreeTest() { add_all_commands(tree_); }

  std::string complaint(const std::vector<std::string>& words) {
    CommandTree tree;
    add_all_commands(tree);
    const auto parsed = tree.parse(words, false);
    return parsed ? "" : parsed.error().detail;
  }

  CommandTree tree_;
};

TEST_F(CommandTreeTest, EveryCommandSaysWhatItDoesWithExamples) {
  const CommandModel root = tree_.model();
  for (const CommandModel* command : all_commands(root)) {
    EXPECT_FALSE(command->summary.empty()) << command->name();
    if (command != &root) EXPECT_GE(command->examples.size(), 2u) << command->name();
    for (const OptionModel& option : command->options) EXPECT_FALSE(option.description.empty()) << command->name() << signature(option);
  }
}

TEST_F(CommandTreeTest, TheExamplesCanBeParsed) {
  const CommandModel root = tree_.model();
  for (const CommandModel* command : all_commands(root)) {
    for (const std::string& example : command->examples) {
      const std::size_t begin = example.find("godwit ");
      ASSERT_NE(begin, std::string::npos) << example;
      std::vector<std::string> words;
      std::istringstream text(example.substr(begin, example.find_first_of(">|)", begin) - begin));
      for (std::string word; text >> word && word != "--";) words.push_back(word);
      words.erase(words.begin());
      const auto parsed = tree_.parse(words, false);  // a tree for each example would take half a minute
      EXPECT_TRUE(parsed) << example << ": " << parsed.error().detail;
    }
  }
}

TEST_F(CommandTreeTest, EveryMistakeGetsOneSentence) {
  const struct {
    std::vector<std::string> words;
    const char* expected;
  } cases[] = {
      {{}, "a command is missing"},
      {{"rnu", "x.c"}, "did you mean 'run'?"},
      {{"frobnicate"}, "choose one of run, map, resume"},
      {{"image", "shwo"}, "did you mean 'show'?"},
      {{"image"}, "a command is missing"},
      {{"run"}, "FILE is missing"},
      {{"--socket", "s", "run", "x.c"}, "'--socket' belongs behind the command: godwit run --socket ..."},
      {{"run", "x.c", "--memroy", "5M"}, "did you mean '--memory'?"},
      {{"run", "x.c", "--memroy=5M"}, "did you mean '--memory'?"},
      {{"run", "x.c", "--zzzzzzzz"}, "list the options with 'godwit run --help'"},
      {{"run", "x.c", "--memory"}, "--memory needs one value"},
      {{"run", "x.c", "--seed", "abc"}, "--seed: 'abc' is not a whole number"},
      {{"run", "x.c", "--seed", "-1"}, "--seed: '-1' is not a whole number"},
      {{"run", "x.c", "--seed", "99999999999999999999"}, "is not a whole number from 0 to 18446744073709551615"},
      {{"run", "x.c", "--poll", "often"}, "'often' is not one of auto, counter"},
      {{"image", "show", "a", "b"}, "takes no argument 'b'"},
      {{"completion", "tcsh"}, "'tcsh' is not one of bash, zsh, fish"},
      {{"config", "get"}, "KEY is missing"},
  };
  for (const auto& c : cases) {
    const std::string sentence = complaint(c.words);
    EXPECT_NE(sentence.find(c.expected), std::string::npos) << testing::PrintToString(c.words) << ": " << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }
}

TEST_F(CommandTreeTest, ArgumentsAfterDashesNeedAProgram) {
  EXPECT_TRUE(tree_.parse({"run", "x.c"}, true));
  CommandTree other;
  add_all_commands(other);
  EXPECT_NE(other.parse({"version"}, true).error().detail.find("drop -- and what follows"), std::string::npos);
}

TEST_F(CommandTreeTest, FlagsOfSettingsAreKept) {
  ASSERT_TRUE(tree_.parse({"run", "x.c", "--memory", "5M", "-o", "json", "--config", "color=never"}, false));
  EXPECT_EQ(tree_.flags().at(Key::memory), "5M");
  EXPECT_EQ(tree_.flags().at(Key::output), "json");
  EXPECT_EQ(tree_.overrides(), std::vector<std::string>{"color=never"});
  EXPECT_EQ(tree_.current_command(), "godwit run");
}

TEST_F(CommandTreeTest, HelpFitsNarrowTerminals) {
  const CommandModel root = tree_.model();
  for (const CommandModel* command : all_commands(root)) {
    std::istringstream page(help_page(*command, common_options(*command, root), {.is_terminal = true, .width = 60}));
    bool in_examples = false;
    for (std::string line; std::getline(page, line);) {
      in_examples = line == "Examples" || (in_examples && !line.empty());
      if (!in_examples) EXPECT_LE(line.size(), 60u) << command->name() << ": " << line;
    }
  }
}

TEST_F(CommandTreeTest, PagesAndScriptsNameEveryOption) {
  const CommandModel root = tree_.model();
  const std::string scripts[] = {bash_completion(root), zsh_completion(root)};
  for (const CommandModel* command : all_commands(root)) {
    const std::string page = man_page(*command, root, "1");
    for (const OptionModel& option : command->options) {
      for (const std::string& name : option.names) {
        std::string escaped;
        for (const char c : name) escaped += c == '-' ? std::string("\\-") : std::string(1, c);
        EXPECT_NE(page.find(escaped), std::string::npos) << command->name() << " " << name;
        for (const std::string& script : scripts) EXPECT_NE(script.find(name), std::string::npos) << name;
      }
    }
  }
}

}  // namespace
}  // namespace gw::cli
