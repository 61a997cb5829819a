#include "wire/machine_name.h"

#include <gtest/gtest.h>

namespace gw::wire {
namespace {

TEST(MachineName, HasLettersDigitsAndThreeSigns) {
  EXPECT_TRUE(is_machine_name("lab-3.physics_A"));
  EXPECT_TRUE(is_machine_name(""));
  EXPECT_TRUE(is_machine_name(std::string(kMaxMachineNameBytes, 'x')));
  EXPECT_FALSE(is_machine_name(std::string(kMaxMachineNameBytes + 1, 'x')));
  for (const char* bad : {"a b", "a\nb", "a\x1b[2J", "caf\xc3\xa9", "a/b", "$(x)"}) EXPECT_FALSE(is_machine_name(bad)) << bad;
  EXPECT_FALSE(is_machine_name(std::string_view("a\0b", 3)));
}

TEST(MachineName, IsMadeOfAnyText) {
  EXPECT_EQ(to_machine_name("lab-3"), "lab-3");
  EXPECT_EQ(to_machine_name("Ann's box"), "Ann-s-box");
  EXPECT_EQ(to_machine_name(std::string(80, 'y')), std::string(kMaxMachineNameBytes, 'y'));
}

}  // namespace
}  // namespace gw::wire
