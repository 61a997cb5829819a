#include "cli/commands/doctor.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Doctor, LooksAtPortsAndReach) {
  EXPECT_EQ(check_ports({"10.0.0.5:7400"}).verdict, Verdict::ok);
  EXPECT_EQ(check_ports({"10.0.0.5:7401"}).reason, Reason::other_port);
  EXPECT_EQ(check_ports({"127.0.0.1:7400"}).reason, Reason::loopback_only);
  EXPECT_EQ(check_ports({}).verdict, Verdict::bad);
  EXPECT_EQ(check_reach(Reach::open, 2, 1).verdict, Verdict::ok);
  EXPECT_EQ(check_reach(Reach::unknown, 0, 0).reason, Reason::reach_unknown);
  EXPECT_EQ(check_reach(Reach::outbound, 0, 3).reason, Reason::outbound_only);
  EXPECT_NE(check_reach(Reach::outbound, 1, 2).sentence.find("1 of 3 other peers"), std::string::npos);
  EXPECT_NE(check_nat(Reach::open, "10.0.0.5:7400", {"10.0.0.5"}).sentence.find("none"), std::string::npos);
  EXPECT_NE(check_nat(Reach::open, "5.6.7.8:7400", {"10.0.0.5"}).sentence.find("forwarded"), std::string::npos);
  EXPECT_EQ(check_nat(Reach::outbound, "5.6.7.8:7400", {"10.0.0.5"}).verdict, Verdict::warn);
}

TEST(Doctor, AClockIsWrongOnlyIfItDiffersFromMostPeers) {
  EXPECT_EQ(check_clock({}).verdict, Verdict::ok);
  EXPECT_EQ(check_clock({milliseconds(10), milliseconds(-20), seconds(4000)}).verdict, Verdict::ok);
  EXPECT_EQ(check_clock({seconds(5), seconds(5), seconds(0)}).verdict, Verdict::warn);
  EXPECT_EQ(check_clock({seconds(-500), seconds(-499)}).verdict, Verdict::bad);
  EXPECT_EQ(check_clock({seconds(-500), seconds(-499)}).reason, Reason::clock_off);
}

TEST(Doctor, SaysWhyAMachineLendsNothing) {
  EXPECT_EQ(check_workers("", 900).verdict, Verdict::ok);
  EXPECT_EQ(check_workers("libuv.so.1 is missing", 0).reason, Reason::workers_fail);
  EXPECT_EQ(check_workers("libuv.so.1 is missing", 0).sentence, "workers cannot start: libuv.so.1 is missing");
  EXPECT_EQ(check_lending(0, "", "anyone").reason, Reason::lends_nothing);
  EXPECT_NE(check_lending(2, "its owner uses it", "anyone").sentence.find("its owner uses it"), std::string::npos);
  EXPECT_EQ(check_lending(2, "", "mine").verdict, Verdict::ok);
  EXPECT_EQ(check_lending(2, "", "mine").reason, Reason::lends_to_owner);
  EXPECT_EQ(check_lending(2, "", "anyone").reason, Reason::ok);
}

TEST(Doctor, LooksAtVersionsDiskAndKernel) {
  EXPECT_EQ(check_versions("1", {"1", "1"}).verdict, Verdict::ok);
  EXPECT_EQ(check_versions("1", {"1", "2"}).reason, Reason::versions_differ);
  EXPECT_EQ(check_disk({.free_bytes = 1ull << 40, .flush = milliseconds(3)}).verdict, Verdict::ok);
  EXPECT_EQ(check_disk({.free_bytes = 1u << 20}).verdict, Verdict::bad);
  EXPECT_EQ(check_disk({.free_bytes = 1ull << 40, .full = true}).verdict, Verdict::bad);
  EXPECT_EQ(check_disk({.free_bytes = 1ull << 40, .flush = seconds(2)}).reason, Reason::disk_slow);
  EXPECT_EQ(overall(check_kernel({})), Verdict::bad);
  const KernelFacts all{.seccomp = true, .landlock = 4, .control_group = "v2", .write_tracking = true, .user_namespaces = true};
  EXPECT_EQ(overall(check_kernel(all)), Verdict::ok);
}

TEST(Doctor, SaysWhatToDoAboutEverythingThatIsNotWell) {
  for (const Finding& finding : {check_ports({}), check_ports({"127.0.0.1:1"}), check_reach(Reach::unknown, 1, 0), check_peers(0),
                                 check_clock({seconds(100)}), check_disk({}), check_versions("1", {"2"})}) {
    EXPECT_NE(finding.verdict, Verdict::ok) << finding.check;
    EXPECT_NE(finding.reason, Reason::ok) << finding.check;
    EXPECT_FALSE(finding.sentence.empty()) << finding.check;
    EXPECT_FALSE(finding.fix.empty()) << finding.check;
  }
}

}  // namespace
}  // namespace gw::cli
