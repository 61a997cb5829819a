#include "os/sealed_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <algorithm>
#include <string_view>

#include "os/files/io.h"

namespace gw::os {
namespace {

UniqueFd unsealed(std::string_view content, int seals) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_TRUE(write_fully(fd.get(), as_bytes(content)));
  if (seals != 0) EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

TEST(SealedMemory, ArrivesAsItWasMade) {
  auto made = SealedMemory::make("test", as_bytes("content"));
  ASSERT_TRUE(made);
  auto opened = SealedMemory::open_sealed(*made->share(), 100);
  ASSERT_TRUE(opened);
  EXPECT_EQ(as_text(opened->bytes()), "content");
}

TEST(SealedMemory, MayBeEmpty) {
  auto made = SealedMemory::make("test", {});
  ASSERT_TRUE(made);
  auto opened = SealedMemory::open_sealed(*made->share(), 0);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->bytes().empty());
}

TEST(SealedMemory, CannotBeChanged) {
  auto made = SealedMemory::make("test", as_bytes("content"));
  ASSERT_TRUE(made);
  EXPECT_NE(::ftruncate(made->fd(), 1), 0);
  EXPECT_NE(::ftruncate(made->fd(), 100), 0);
  EXPECT_LT(::pwrite(made->fd(), "x", 1, 0), 0);
  EXPECT_EQ(::mmap(nullptr, 7, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd(), 0), MAP_FAILED);
}

TEST(SealedMemory, RefusesWhatCouldStillBeChanged) {
  constexpr int kAll[] = {F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE};
  for (const int missing : kAll) {
    const int seals = (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) & ~missing;
    auto opened = SealedMemory::open_sealed(unsealed("content", seals), 100);
    ASSERT_FALSE(opened) << missing;
    EXPECT_EQ(opened.error().kind, Kind::invalid);
  }
  EXPECT_FALSE(SealedMemory::open_sealed(unsealed("content", 0), 100));
}

TEST(SealedMemory, RefusesFilesAndDevices) {
  for (const char* path : {"/proc/self/exe", "/dev/zero", "/dev/null", "/"}) {
    EXPECT_FALSE(SealedMemory::open_sealed(UniqueFd(::open(path, O_RDONLY | O_CLOEXEC)), 1u << 30)) << path;
  }
  EXPECT_FALSE(SealedMemory::open_sealed(UniqueFd(), 100));
}

TEST(SealedMemory, RefusesMoreThanWanted) {
  auto made = SealedMemory::make("test", as_bytes("content"));
  EXPECT_FALSE(SealedMemory::open_sealed(*made->share(), 6));
  EXPECT_TRUE(SealedMemory::open_sealed(*made->share(), 7));
}

TEST(UnsealedMemory, IsFilledInPlaceAndSealed) {
  auto memory = UnsealedMemory::make("test", 3);
  ASSERT_TRUE(memory) << memory.error().detail;
  std::ranges::copy(std::string_view("abc"), memory->bytes().begin());
  auto sealed = std::move(*memory).seal();
  ASSERT_TRUE(sealed) << sealed.error().detail;
  EXPECT_EQ(as_text(sealed->bytes()), "abc");
  EXPECT_NE(::ftruncate(sealed->fd(), 1), 0);
  ASSERT_TRUE(UnsealedMemory::make("empty", 0));
  EXPECT_EQ(std::move(*UnsealedMemory::make("empty", 0)).seal()->bytes().size(), 0u);
}

}  // namespace
}  // namespace gw::os
