#include "isolate/memory/dirty_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "isolate/memory/memory_watch.h"
#include "wire/image/image.h"

namespace gw::isolate {
namespace {

using ::testing::ElementsAre;
using wire::kPageBytes;

constexpr std::size_t kPages = 64;

// Memory like a guest's: reserved as a whole, usable up to a size that grows.
class Memory {
 public:
  Memory() : base(static_cast<std::uint8_t*>(mmap(nullptr, kPages * kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    GW_ASSERT(base != MAP_FAILED);
  }
  ~Memory() { munmap(base, kPages * kPageBytes); }
  std::size_t grow_to(std::size_t pages) {
    GW_ASSERT(mprotect(base, pages * kPageBytes, PROT_READ | PROT_WRITE) == 0);
    return pages * kPageBytes;
  }
  void touch(std::size_t page, std::size_t offset = 5000) { base[page * kPageBytes + offset]++; }

  std::uint8_t* const base;
};

class DirtyPagesBy : public ::testing::TestWithParam<MemoryWatch::Use> {
 protected:
  MemoryWatch watch{GetParam()};
  Memory memory;
};

TEST_P(DirtyPagesBy, FindsWhatWasWritten) {
  if (GetParam() == MemoryWatch::Use::everything && !watch.can_track()) GTEST_SKIP() << "this kernel cannot track writes";
  std::size_t bytes = memory.grow_to(20);
  memory.touch(1), memory.touch(2), memory.touch(7);
  auto dirty = follow_writes(watch, memory.base, bytes);
  ASSERT_TRUE(dirty) << dirty.error().detail;
  EXPECT_THAT(*(*dirty)->collect(bytes), ElementsAre());
  memory.touch(2), memory.touch(2, 60000), memory.touch(13, 0), memory.touch(19, kPageBytes - 1);
  EXPECT_THAT(*(*dirty)->collect(bytes), ElementsAre(2, 13, 19));
  memory.touch(1);
  EXPECT_THAT(*(*dirty)->collect(bytes), ElementsAre(1));
  EXPECT_THAT(*(*dirty)->collect(bytes), ElementsAre());
}

TEST_P(DirtyPagesBy, FollowsMemoryThatGrows) {
  std::size_t bytes = memory.grow_to(4);
  auto dirty = follow_writes(watch, memory.base, bytes);
  ASSERT_TRUE(dirty) << dirty.error().detail;
  bytes = memory.grow_to(9);
  memory.touch(3), memory.touch(6);
  EXPECT_THAT(*(*dirty)->collect(bytes), ElementsAre(3, 6));
  memory.touch(8);
  EXPECT_THAT(*(*dirty)->collect(bytes), ElementsAre(8));
}

std::string name_of(const ::testing::TestParamInfo<MemoryWatch::Use>& info) {
  switch (info.param) {
    case MemoryWatch::Use::everything:
      return "WriteProtection";
    case MemoryWatch::Use::no_tracking:
      return "ComparisonOfPresentPages";
    case MemoryWatch::Use::nothing:
      return "ComparisonOfAllPages";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Kernel, DirtyPagesBy,
                         ::testing::Values(MemoryWatch::Use::everything, MemoryWatch::Use::no_tracking, MemoryWatch::Use::nothing),
                         name_of);

TEST(MemoryWatch, FindsPresentPagesInBothWays) {
  Memory memory;
  std::size_t bytes = memory.grow_to(50);
  memory.touch(0), memory.touch(30), memory.touch(49, kPageBytes - 1);
  [[maybe_unused]] volatile std::uint8_t read = memory.base[10 * kPageBytes];  // maps the zero page, which need not be looked at
  for (auto use : {MemoryWatch::Use::everything, MemoryWatch::Use::no_tracking}) {
    MemoryWatch watch(use);
    std::vector<std::size_t> offsets;
    watch.present({memory.base, bytes},
                  [&](std::uint8_t* start, std::size_t) { offsets.push_back(static_cast<std::size_t>(start - memory.base)); });
    EXPECT_THAT(offsets, ElementsAre(4096, 30 * kPageBytes + 4096, 50 * kPageBytes - 4096));
  }
}

}  // namespace
}  // namespace gw::isolate
