#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace gw {
namespace {

TEST(Bytes, WriterAndReaderAgree) {
  ByteWriter out;
  out.u8(0x12);
  out.u16(0x3456);
  out.u32(0x789abcde);
  out.u64(0x0123456789abcdef);
  out.string("swift");
  out.leb_u32(624485);
  out.bytes(Bytes{1, 2});
  const Bytes bytes = out.take();
  EXPECT_EQ(hex(ByteView(bytes).first(7)), "125634debc9a78");

  ByteReader in(bytes);
  EXPECT_EQ(in.u8().value(), 0x12);
  EXPECT_EQ(in.u16().value(), 0x3456);
  EXPECT_EQ(in.u32().value(), 0x789abcdeu);
  EXPECT_EQ(in.u64().value(), 0x0123456789abcdefu);
  EXPECT_EQ(in.string().value(), "swift");
  EXPECT_EQ(in.leb_u32().value(), 624485u);
  EXPECT_EQ(in.remaining(), 2u);
  EXPECT_EQ(in.bytes(2).value()[1], 2);
  EXPECT_TRUE(in.at_end());
}

TEST(Bytes, ReaderRefusesToLeaveItsBoundsAndStaysWhereItWas) {
  const Bytes bytes{9, 0, 0, 0, 'a'};
  ByteReader in(bytes);
  EXPECT_EQ(in.u64().error().kind, Kind::corrupt);
  EXPECT_EQ(in.string().error().kind, Kind::corrupt);
  EXPECT_EQ(in.bytes(6).error().kind, Kind::corrupt);
  EXPECT_EQ(in.bytes(std::numeric_limits<std::size_t>::max()).error().kind, Kind::corrupt);
  EXPECT_EQ(in.position(), 0u);
  EXPECT_EQ(in.u32().value(), 9u);
}

TEST(Bytes, LebRoundTripsAtTheEdges) {
  for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{0xffffffff},
                              std::uint64_t{0x100000000}, std::numeric_limits<std::uint64_t>::max()}) {
    ByteWriter out;
    out.leb_u64(value);
    EXPECT_EQ(ByteReader(out.view()).leb_u64().value(), value);
  }
}

TEST(Bytes, LebRefusesWhatDoesNotFit) {
  const struct {
    Bytes bytes;
    const char* why;
  } cases[] = {
      {{0x80, 0x80, 0x80, 0x80, 0x10}, "bit 32 set"},
      {{0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, "six bytes"},
      {{0x80, 0x80}, "cut off"},
      {{}, "empty"},
  };
  for (const auto& c : cases) EXPECT_FALSE(ByteReader(c.bytes).leb_u32()) << c.why;
  EXPECT_EQ(ByteReader(Bytes{0xff, 0xff, 0xff, 0xff, 0x0f}).leb_u32().value(), 0xffffffffu);
}

}  // namespace
}  // namespace gw
