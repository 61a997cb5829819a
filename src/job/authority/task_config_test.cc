#include "job/authority/task_config.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

using wire::pb::TaskRow;
using wire::pb::TaskValues;
using wire::pb::ThreadConfig;

ThreadConfig shared_config() {
  ThreadConfig config;
  config.add_args("prog");
  config.add_args("--in={}");
  config.add_env("N={#}");
  config.set_random_seed(std::string(32, 's'));
  config.add_inputs()->set_path("common");
  return config;
}

TaskValues with_rows() {
  TaskValues values;
  values.set_has_rows(true);
  values.add_columns("");
  values.add_outputs("out/{//}/{/.}.txt");
  return values;
}

TaskRow row(const std::string& value) {
  TaskRow row;
  row.add_values(value);
  row.add_inputs()->set_path(value);
  return row;
}

TEST(TaskConfigs, WordsOfARowFollowThoseOfAllTasksAsTheyStand) {
  TaskRow own = row("a/b.c");
  own.add_args("{} {#}");
  own.add_env("MODE={}");
  own.add_outputs("./mine");
  const TaskConfigs configs = TaskConfigs::make(shared_config(), 10, with_rows()).value();
  const ThreadConfig config = configs.config_of(4, &own).value();
  EXPECT_EQ(config.args(2), "{} {#}");
  EXPECT_EQ(config.env(1), "MODE={}");
  EXPECT_EQ(config.env(2), "GODWIT_TASK=4");
  EXPECT_EQ(config.outputs(1), "mine");
  own.add_outputs("../elsewhere");
  EXPECT_FALSE(configs.config_of(4, &own));
  own.mutable_outputs()->RemoveLast();
  own.add_args(std::string(TaskConfigs::kMaxBytes, 'x'));
  EXPECT_FALSE(configs.config_of(4, &own));
}

TEST(TaskConfigs, NumbersGoFromTheFirstInSteps) {
  TaskValues values;
  values.set_first(-3);
  values.set_step(2);
  values.add_outputs("./{}.txt");
  const TaskConfigs configs = TaskConfigs::make(shared_config(), 10, values).value();
  const ThreadConfig config = configs.config_of(4, nullptr).value();
  EXPECT_EQ(config.args(1), "--in=5");
  EXPECT_EQ(config.env(0), "N=4");
  EXPECT_EQ(config.env(1), "GODWIT_TASK=4");
  EXPECT_EQ(config.env(2), "GODWIT_TASKS=10");
  EXPECT_EQ(config.outputs(0), "5.txt");
}

TEST(TaskConfigs, ARowAddsInputsOutputsAndStandardInput) {
  const TaskConfigs configs = TaskConfigs::make(shared_config(), 2, with_rows()).value();
  TaskRow one = row("a/b.png");
  one.mutable_standard_input()->set_path("stdin");
  const ThreadConfig config = configs.config_of(1, &one).value();
  EXPECT_EQ(config.args(1), "--in=a/b.png");
  ASSERT_EQ(config.inputs_size(), 2);
  EXPECT_EQ(config.inputs(0).path(), "common");
  EXPECT_EQ(config.inputs(1).path(), "a/b.png");
  EXPECT_EQ(config.outputs(0), "out/a/b.txt");
  EXPECT_TRUE(config.has_standard_input());
  const TaskRow other = row("c");
  EXPECT_EQ(configs.config_of(0, &other)->outputs(0), "out/c.txt") << "the folder of a name alone is '.'";
  EXPECT_NE(configs.config_of(0, &other)->random_seed(), config.random_seed());
}

TEST(TaskConfigs, RefusesWhatDoesNotFit) {
  const TaskConfigs configs = TaskConfigs::make(shared_config(), 2, with_rows()).value();
  EXPECT_FALSE(configs.config_of(0, nullptr)) << "no row";
  const TaskRow empty;
  EXPECT_FALSE(configs.config_of(0, &empty)) << "no values";
  TaskRow escaping = row("../../etc/passwd");
  EXPECT_FALSE(configs.config_of(0, &escaping));
  TaskValues unknown = with_rows();
  unknown.add_outputs("{key}");
  EXPECT_FALSE(TaskConfigs::make(shared_config(), 2, unknown));
  TaskValues strange = with_rows();
  strange.add_columns("a b");
  EXPECT_FALSE(TaskConfigs::make(shared_config(), 2, strange));
  TaskValues far;
  far.set_first(INT64_MAX);
  EXPECT_FALSE(TaskConfigs::make(shared_config(), 2, far));
}

TEST(TaskConfigs, AreBoundedWhateverTheValuesAre) {
  ThreadConfig shared = shared_config();
  for (int i = 0; i < 1000; ++i) shared.add_args("{}");
  const TaskConfigs configs = TaskConfigs::make(shared, 1, with_rows()).value();
  const TaskRow large = row(std::string(100'000, 'x'));
  EXPECT_FALSE(configs.config_of(0, &large));
}

TEST(TaskConfigs, OfAJobThatIsNoArrayHaveNoPlaceholders) {
  const TaskConfigs configs = TaskConfigs::make(shared_config(), 0, {}).value();
  const ThreadConfig config = configs.config_of(0, nullptr).value();
  EXPECT_EQ(config.args(1), "--in={}");
  EXPECT_EQ(config.env_size(), 1);
}

TEST(TreePath, IsMadePlain) {
  EXPECT_EQ(tree_path_of("/a//b/./c").value(), "a/b/c");
  EXPECT_EQ(tree_path_of("a/").value(), "a/");
  EXPECT_FALSE(tree_path_of("a/../b"));
  EXPECT_FALSE(tree_path_of("./"));
}

}  // namespace
}  // namespace gw::job
