#include "isolate/wasi/wasi_state.h"

#include <gtest/gtest.h>

namespace gw::isolate {
namespace {

WasiState example() {
  WasiState state;
  state.args = {"program", "", "two words"};
  state.env = {"HOME=/", "EMPTY="};
  state.random = GuestRandom({1, 2, 3}, 4711);
  state.monotonic = 99;
  state.output_bytes = 12;
  state.input = {'a', 0, 'b'};
  state.input_ended = true;
  Inode folder = *state.files.make(FileTree::kRoot, "folder", Directory{});
  Inode file = *state.files.make(folder, "file", FileContent{});
  EXPECT_EQ(state.files.write(file, 70'000, as_bytes("end")), Errno::success);
  EXPECT_TRUE(state.files.make(folder, "link", Symlink{"../file"}));
  state.files.open(file);
  state.descriptors.remove(2);
  state.descriptors.put(9, {.flags = 1, .rights = 7, .inheriting = 8, .node = file, .offset = 12});
  EXPECT_EQ(state.files.unlink(folder, "file"), Errno::success);
  state.outputs = {"out", "results/"};
  state.parked = ParkedCall::sleep;
  state.deadline = 12345;
  state.sleeper = 2;
  return state;
}

TEST(WasiState, SurvivesEncoding) {
  auto decoded = decode_wasi_state(encode(example()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(encode(*decoded), encode(example()));
  EXPECT_EQ(decoded->files.pages(), 2u);
  EXPECT_EQ(decoded->descriptors.find(9)->offset, 12u);
  EXPECT_EQ(decoded->descriptors.find(2), nullptr);
}

TEST(WasiState, RefusesEveryTruncation) {
  Bytes bytes = encode(example());
  for (std::size_t size = 0; size < bytes.size(); size++) EXPECT_FALSE(decode_wasi_state(ByteView(bytes).first(size))) << size;
  bytes.push_back(0);
  EXPECT_FALSE(decode_wasi_state(bytes));
}

TEST(WasiState, RefusesWhatItCannotHaveWritten) {
  struct Case {
    std::size_t offset;
    std::uint8_t value;
  };
  for (Case c : {Case{0, 1}, Case{1, 5}, Case{2, 2}, Case{1, 0}, Case{15, 1}}) {
    Bytes bytes = encode(example());
    bytes[c.offset] = c.value;
    EXPECT_FALSE(decode_wasi_state(bytes)) << c.offset;
  }
}

// A state with any single byte changed is refused, or is another valid state.
TEST(WasiState, AChangedByteIsRefusedOrGivesAnotherValidState) {
  Bytes good = encode(example());
  for (std::size_t at = 0; at < good.size(); at++) {
    for (std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{0xff}, static_cast<std::uint8_t>(good[at] ^ 0x10)}) {
      Bytes bytes = good;
      bytes[at] = value;
      auto decoded = decode_wasi_state(bytes);
      if (decoded) ASSERT_EQ(encode(*decoded), bytes) << at;
    }
  }
}

TEST(WasiState, ChecksStringsWhereTheyEnter) {
  WasiState state = example();
  state.args.push_back(std::string("a\0b", 3));
  EXPECT_EQ(check(state).error().detail, "one of the arguments contains a character 0");
  state = example();
  state.env.push_back(std::string(kMaxStringBytes, 'x'));
  EXPECT_FALSE(check(state));
}

}  // namespace
}  // namespace gw::isolate
