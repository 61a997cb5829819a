#include "job/placing/capacity.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

Requirements needs(std::string_view text) { return parse_requirements(text).value(); }

std::string refusal(std::string_view text) {
  const auto parsed = parse_requirements(text);
  return parsed ? "" : parsed.error().detail;
}

Capacity small() {
  Capacity capacity;
  capacity.set_speed(400);
  capacity.set_memory_bytes(400 * kMiB);
  capacity.set_disk_bytes(512 * kMiB);
  capacity.set_arch("x86_64");
  capacity.add_tags("fast");
  return capacity;
}

TEST(Capacity, RequirementsAreReadAndWritten) {
  const Requirements all = needs("memory=2G,disk=1536M,speed=0.5,arch=x86_64,tag=gpu,tag=fast");
  EXPECT_EQ(all.memory_bytes(), 2048 * kMiB);
  EXPECT_EQ(all.disk_bytes(), 1536 * kMiB);
  EXPECT_EQ(all.speed(), 500u);
  EXPECT_EQ(all.arch(), "x86_64");
  EXPECT_EQ(all.tags_size(), 2);
  EXPECT_EQ(text_of(all), "memory=2G,disk=1536M,speed=0.5,arch=x86_64,tag=gpu,tag=fast");
  for (const char* const text : {"memory=1000", "memory=1K", "speed=1.25", "speed=12", "tag=a"}) EXPECT_EQ(text_of(needs(text)), text);
  EXPECT_EQ(needs("memory=1.5GiB").memory_bytes(), 1536 * kMiB);
  EXPECT_EQ(text_of(Requirements()), "");
}

TEST(Capacity, WrongRequirementsAreNamed) {
  EXPECT_NE(refusal("cores=2").find("'cores'"), std::string::npos);
  EXPECT_NE(refusal("memory").find("memory=2G,"), std::string::npos) << "an example is given";
  EXPECT_NE(refusal("memory=much").find("'memory=much'"), std::string::npos);
  EXPECT_NE(refusal("memory=0").find("memory=2G"), std::string::npos);
  EXPECT_NE(refusal("memory=-1G").find("size"), std::string::npos);
  EXPECT_NE(refusal("memory=1G,memory=2G").find("leave out one"), std::string::npos);
  EXPECT_NE(refusal("memory=9999999999999G").find("size"), std::string::npos);
  EXPECT_NE(refusal("speed=0").find("reference machine"), std::string::npos);
  EXPECT_NE(refusal("speed=fast").find("'speed=fast'"), std::string::npos);
  EXPECT_NE(refusal("arch=").find("uname -m"), std::string::npos);
  EXPECT_NE(refusal("tag=a b").find("tag"), std::string::npos);
  EXPECT_NE(refusal("memory=1G,").find("''"), std::string::npos);
  EXPECT_NE(refusal("").find("''"), std::string::npos);
  std::string many = "tag=t";
  for (std::size_t i = 0; i < kMaxTags; ++i) many += ",tag=t";
  EXPECT_NE(refusal(many).find("at most 16"), std::string::npos);
}

TEST(Capacity, MisfitsHaveBothNumbers) {
  EXPECT_EQ(misfit(needs("memory=400M,disk=512M,speed=0.4,arch=x86_64,tag=fast"), small()), std::nullopt);
  EXPECT_EQ(misfit(Requirements(), Capacity()), std::nullopt);
  EXPECT_EQ(misfit(needs("memory=2G"), small()), "needs 2.0 GiB of memory per slot, this peer lends 400 MiB");
  EXPECT_EQ(misfit(needs("disk=1G"), small()), "needs 1.0 GiB of disk per slot, this peer lends 512 MiB");
  EXPECT_EQ(misfit(needs("speed=0.5"), small()), "needs a speed of 0.5, this peer has 0.4");
  EXPECT_EQ(misfit(needs("arch=aarch64"), small()), "needs the architecture aarch64, this peer has x86_64");
  EXPECT_EQ(misfit(needs("tag=fast,tag=gpu"), small()), "needs the tag gpu, this peer has fast");
}

TEST(Capacity, UnknownMeasuresDoNotFitExceptForMemoryWithoutALimit) {
  const Capacity unknown;
  EXPECT_EQ(misfit(needs("memory=64G"), unknown), std::nullopt);
  EXPECT_EQ(misfit(needs("disk=1G"), unknown), "needs 1.0 GiB of disk per slot, this peer lends 0 B");
  EXPECT_EQ(misfit(needs("speed=0.5"), unknown), "needs a speed of 0.5, this peer has not measured its own yet");
  EXPECT_EQ(misfit(needs("arch=x86_64"), unknown), "needs the architecture x86_64, this peer has not said which one it has");
  EXPECT_EQ(misfit(needs("tag=gpu"), unknown), "needs the tag gpu, this peer has none");
}

TEST(Capacity, OfAStrangerIsChecked) {
  EXPECT_TRUE(check(small()));
  const auto refused = [](auto change) {
    Capacity capacity = small();
    change(capacity);
    return !check(capacity);
  };
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.set_speed(~0u); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.set_memory_bytes(~0ull); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.set_disk_bytes(~0ull); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.set_load(~0u); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.set_uptime_s(~0ull); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.set_arch(std::string(33, 'a')); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.add_tags("\x1b[2J"); }));
  EXPECT_TRUE(refused([](Capacity& capacity) { capacity.add_tags(std::string(kMaxTagBytes + 1, 't')); }));
  EXPECT_TRUE(refused([](Capacity& capacity) {
    for (std::size_t i = 0; i < kMaxTags; ++i) capacity.add_tags("t");
  }));
  Requirements requirements = needs("memory=1G");
  EXPECT_TRUE(check(requirements));
  requirements.set_speed(~0u);
  EXPECT_FALSE(check(requirements));
}

TEST(Capacity, AShortfallNamesTheBestThatThereIs) {
  Capacity small, large;
  small.set_memory_bytes(100u << 20);
  small.set_speed(500);
  large.set_memory_bytes(400u << 20);
  large.set_arch("x86_64");
  const std::vector capacities{small, large};
  EXPECT_EQ(shortfall(parse_requirements("memory=2G").value(), capacities),
            "needs 2.0 GiB of memory per slot, the largest of 2 machines lends 400 MiB");
  EXPECT_EQ(shortfall(parse_requirements("speed=0.9").value(), capacities), "needs a speed of 0.9, the fastest of 2 machines has 0.5");
  EXPECT_EQ(shortfall(parse_requirements("arch=riscv64").value(), capacities), "needs the architecture riscv64, none of 2 machines has it");
  EXPECT_EQ(shortfall(parse_requirements("tag=gpu").value(), capacities), "needs the tag gpu, none of 2 machines has it");
  EXPECT_EQ(shortfall(parse_requirements("memory=300M,speed=0.5").value(), capacities),
            "each of 2 machines lacks a part of memory=300M,speed=0.5");
}

}  // namespace
}  // namespace gw::job
