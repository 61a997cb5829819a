#include "isolate/wasi_state.h"

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
  state.closed = 0b101;
  state.parked = ParkedCall::sleep;
  state.deadline = 12345;
  state.sleeper = 2;
  return state;
}

TEST(WasiState, SurvivesEncoding) {
  auto decoded = decode_wasi_state(encode(example()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(*decoded, example());
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
  for (Case c : {Case{0, 2}, Case{1, 4}, Case{2, 8}, Case{3, 2}, Case{1, 0}}) {
    Bytes bytes = encode(example());
    bytes[c.offset] = c.value;
    EXPECT_FALSE(decode_wasi_state(bytes)) << c.offset;
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
