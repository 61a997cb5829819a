// The user's guide says what the tables of the program say.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/reason.h"
#include "cli/exit_codes.h"
#include "cli/settings/setting_keys.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

std::string guide() { return std::string(as_text(os::read_file(GODWIT_USER_GUIDE, 1 << 20).value())); }

TEST(UserGuide, ListsEveryExitCode) {
  const std::string text = guide();
  for (const ExitCodeEntry& entry : kExitCodes) {
    const std::string row = fmt::format("| {} | {} | {} |", static_cast<int>(entry.code), entry.name, entry.meaning);
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(UserGuide, ListsEverySetting) {
  const std::string text = guide();
  for (const SettingKey& key : setting_keys()) {
    const std::string row = fmt::format("| `{}` | `{}` | `{}` |", key.name, key.built_in, variable_name(key));
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(Reasons, AreAllDocumented) {
  const std::string text(as_text(os::read_file(GODWIT_REASONS, 1 << 20).value()));
  for (const ReasonEntry& entry : reasons()) {
    EXPECT_EQ(entry_of(entry.reason).name, entry.name);
    EXPECT_EQ(find_reason(entry.name), entry.reason);
    const std::string row = fmt::format("| `{}` | {} | {} |", entry.name, entry.sentence, entry.fix);
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace gw::cli
