#include "cli/jobs/sweep_options.h"

#include <gtest/gtest.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::cli {
namespace {

using Words = std::vector<std::string>;

TEST(SweepOptions, OneSourceSaysWhichTasksThereAre) {
  EXPECT_FALSE(SweepOptions{}.is_array());
  EXPECT_EQ(task_list_of({.tasks = "3"}).value().count, 3u);
  EXPECT_NE(task_list_of({.tasks = "3", .each_file = {"*"}}).error().detail.find("give one of them"), std::string::npos);
}

TEST(MapWords, AreSplitAtColons) {
  const MapWords map = split_map_words({"-v", "{}", ":::", "a", "b", ":::", "1"}).value();
  EXPECT_EQ(map.args, (Words{"-v", "{}"}));
  EXPECT_EQ(map.lists, (std::vector<Words>{{"a", "b"}, {"1"}}));
  EXPECT_EQ(split_map_words({"-v", ":::", "a"}).value().args, (Words{"-v", "{}"})) << "the value is the last argument";
  EXPECT_FALSE(split_map_words({"a", "b"}));
  EXPECT_FALSE(split_map_words({"a", ":::"}));
}

TEST(MapWords, FourColonsNameFilesOfValues) {
  const os::TempDir folder = os::TempDir::make().value();
  const std::string file = (folder.path() / "list").string();
  std::ofstream(file) << "one\ntwo\n";
  EXPECT_EQ(split_map_words({"::::", file}).value().lists, (std::vector<Words>{{"one", "two"}}));
  EXPECT_EQ(split_map_words({"::::", file + ".not"}).error().kind, Kind::not_found);
}

}  // namespace
}  // namespace gw::cli
