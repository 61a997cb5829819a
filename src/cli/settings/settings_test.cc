#include "cli/settings/settings.h"

#include <gtest/gtest.h>

#include "cli/settings/settings_file.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    sources_.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    };
    sources_.files = {file("project.toml"), file("user.toml"), file("system.toml")};
  }

  fs::path file(const std::string& name) const { return dir_.path() / name; }
  void write(const std::string& name, std::string_view text) const { ASSERT_TRUE(os::write_file_atomic(file(name), as_bytes(text))); }
  std::string read(const std::string& name) const { return std::string(as_text(os::read_file(file(name), 1 << 20).value())); }
  std::string memory() const { return Settings::resolve(sources_).value()[Key::memory].text; }
  std::string complaint() const { return Settings::resolve(sources_).error().detail; }

  os::TempDir dir_ = os::TempDir::make().value();
  std::map<std::string, std::string> environment_;
  SettingSources sources_;
};

TEST_F(SettingsTest, EveryStrongerSourceHidesTheWeakerOnes) {
  EXPECT_EQ(memory(), "1GiB");
  write("system.toml", "memory = '1M'");
  EXPECT_EQ(memory(), "1M");
  write("user.toml", "memory = '2M'");
  EXPECT_EQ(memory(), "2M");
  write("project.toml", "memory = '3M'");
  EXPECT_EQ(memory(), "3M");
  environment_["GODWIT_MEMORY"] = "4M";
  EXPECT_EQ(memory(), "4M");
  sources_.overrides = {"memory=5M", "memory=6M"};
  EXPECT_EQ(memory(), "6M");
  sources_.flags[Key::memory] = "7M";
  EXPECT_EQ(memory(), "7M");
}

TEST_F(SettingsTest, SaysWhereAValueComesFrom) {
  write("user.toml", "color = 'never'\nmemory = 65536\n");
  environment_["GODWIT_TIME_LIMIT"] = "00:01:00";
  sources_.flags[Key::output] = "json";
  const Settings settings = Settings::resolve(sources_).value();
  EXPECT_EQ(settings[Key::color].origin, file("user.toml").string());
  EXPECT_EQ(settings[Key::time_limit].origin, "GODWIT_TIME_LIMIT");
  EXPECT_EQ(settings[Key::output].origin, "--format");
  EXPECT_EQ(settings[Key::mobile].origin, "built in");
  EXPECT_EQ(settings.memory_pages(), 1u);
  EXPECT_EQ(settings.time_limit(), std::chrono::minutes(1));
  EXPECT_EQ(settings.checkpoint_every(), std::nullopt);
}

TEST_F(SettingsTest, EveryBuiltInValueIsValid) {
  for (const SettingKey& key : setting_keys()) EXPECT_TRUE(key.check(key.built_in)) << key.name;
}

TEST_F(SettingsTest, RefusesWhatItDoesNotKnowWithTheNearestKey) {
  write("user.toml", "# mine\nmemroy = '1M'\n");
  EXPECT_EQ(complaint(), file("user.toml").string() + ", line 2: there is no setting 'memroy': did you mean 'memory'?");
  write("user.toml", "peers = 3");
  EXPECT_NE(complaint().find("choose one of memory, time-limit"), std::string::npos);
}

TEST_F(SettingsTest, RefusesBadValuesNamingTheirSource) {
  write("project.toml", "memory = '1T'");
  EXPECT_NE(complaint().find("project.toml, line 1: memory: '1T' is not a size"), std::string::npos) << complaint();
  write("project.toml", "memory = true");
  EXPECT_NE(complaint().find("a text in quotes or a whole number"), std::string::npos) << complaint();
  write("project.toml", "[memory]\nsize = 3");
  EXPECT_NE(complaint().find("project.toml, line 1: "), std::string::npos) << complaint();
  write("project.toml", "memory = \n");
  EXPECT_NE(complaint().find("project.toml, line 1: "), std::string::npos) << complaint();
  write("project.toml", "");
  environment_["GODWIT_COLOR"] = "pink";
  EXPECT_EQ(complaint(), "GODWIT_COLOR: 'pink' is not one of auto, always, never");
  environment_.clear();
  sources_.overrides = {"color"};
  EXPECT_NE(complaint().find("--config: 'color' is not a setting: write it as key=value"), std::string::npos);
}

TEST_F(SettingsTest, WritingKeepsEverythingElse) {
  write("user.toml", "# größe\nmemory = \"1M\" # naïve\ncolor = 'never'");
  ASSERT_TRUE(write_setting(file("user.toml"), Key::memory, "512M"));
  EXPECT_EQ(read("user.toml"), "# größe\nmemory = '512M' # naïve\ncolor = 'never'");
  ASSERT_TRUE(write_setting(file("user.toml"), Key::mobile, "coarse"));
  EXPECT_EQ(read("user.toml"), "# größe\nmemory = '512M' # naïve\ncolor = 'never'\nmobile = 'coarse'\n");
  ASSERT_TRUE(write_setting(file("new/folder/config.toml"), Key::color, "never"));
  EXPECT_EQ(read("new/folder/config.toml"), "color = 'never'\n");
}

TEST_F(SettingsTest, AFileWithAMistakeIsNotWritten) {
  write("user.toml", "memory = ");
  EXPECT_FALSE(write_setting(file("user.toml"), Key::memory, "512M"));
  EXPECT_EQ(read("user.toml"), "memory = ");
}

TEST(SettingKeys, HaveVariablesNamedAfterThem) {
  EXPECT_EQ(variable_name(setting_key(Key::checkpoint_every)), "GODWIT_CHECKPOINT_EVERY");
  EXPECT_EQ(variable_name(setting_key(Key::output)), "GODWIT_OUTPUT");
}

}  // namespace
}  // namespace gw::cli
