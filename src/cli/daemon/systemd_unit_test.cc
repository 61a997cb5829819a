#include "cli/daemon/systemd_unit.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "os/files/file.h"

namespace gw::cli {
namespace {

TEST(SystemdUnit, NotifiesReadinessAndQuotesEveryArgument) {
  const std::string text = unit_text({"/opt/my tools/godwit", "up", "--join", "a%b$c\"d\\e:1"});
  EXPECT_NE(text.find("\nExecStart=\"/opt/my tools/godwit\" \"up\" \"--join\" \"a%%b$$c\\\"d\\\\e:1\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nType=notify\n"), std::string::npos);
  EXPECT_NE(text.find("\nRestart=on-failure\n"), std::string::npos);
}

TEST(SystemdUnit, IsWrittenAndRemovedWhetherSystemdIsThereOrNot) {
  const os::TempDir folder = os::TempDir::make().value();
  ASSERT_EQ(::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1), 0);
  ASSERT_EQ(::setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere", 1), 0);  // no systemd answers there
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1), 0);
  const auto installed = install_unit({"godwit", "up"});
  ASSERT_TRUE(installed) << installed.error().detail;
  EXPECT_FALSE(installed->taken);
  EXPECT_NE(installed->to_do.find("systemctl --user enable"), std::string::npos) << installed->to_do;
  EXPECT_TRUE(os::read_file(folder.path() / "systemd/user/godwit.service", 1 << 16));
  EXPECT_TRUE(uninstall_unit());
  EXPECT_EQ(uninstall_unit().error().kind, Kind::not_found);
  ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace gw::cli
