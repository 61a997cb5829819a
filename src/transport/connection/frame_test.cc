#include "transport/connection/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "transport/connection/message_assembler.h"

namespace gw::transport {
namespace {

void feed(FrameDecoder& decoder, ByteView bytes) {
  auto space = decoder.space();
  ASSERT_LE(bytes.size(), space.size());
  std::ranges::copy(bytes, space.begin());
  decoder.filled(bytes.size());
}

// The complaint about one header, or nothing.
std::string complaint(std::uint32_t length, std::uint8_t kind, std::uint8_t flags, std::uint32_t stream) {
  ByteWriter header;
  header.u32(length);
  header.u8(kind);
  header.u8(flags);
  header.u32(stream);
  FrameDecoder decoder;
  feed(decoder, header.view());
  auto frame = decoder.next();
  return frame ? "" : frame.error().detail;
}

TEST(FrameDecoder, GivesBackWhatWasAppendedByteByByte) {
  Bytes payload{1, 2, 3}, bytes;
  append_frame(bytes, {.kind = FrameKind::request, .lane = Lane::bulk, .more = true, .stream = 0x01020304, .payload = payload});
  append_frame(bytes, {.kind = FrameKind::pong});
  FrameDecoder decoder;
  std::vector<FrameKind> kinds;
  for (std::uint8_t byte : bytes) {
    feed(decoder, {&byte, 1});
    auto frame = decoder.next();
    ASSERT_TRUE(frame);
    if (!*frame) continue;
    kinds.push_back((*frame)->kind);
    if ((*frame)->kind != FrameKind::request) continue;
    EXPECT_EQ((*frame)->lane, Lane::bulk);
    EXPECT_TRUE((*frame)->more);
    EXPECT_EQ((*frame)->stream, 0x01020304u);
    EXPECT_EQ(Bytes((*frame)->payload.begin(), (*frame)->payload.end()), payload);
  }
  EXPECT_EQ(kinds, (std::vector{FrameKind::request, FrameKind::pong}));
}

TEST(FrameDecoder, RefusesByTheHeaderAlone) {
  EXPECT_EQ(complaint(kMaxFramePayload, 2, 0, 0), "");
  EXPECT_NE(complaint(kMaxFramePayload + 1, 2, 0, 0), "");
  EXPECT_NE(complaint(0xffffffff, 2, 0, 0), "");
  EXPECT_NE(complaint(1025, 8, 0, 0), "") << "a goodbye is short";
  EXPECT_NE(complaint(0, 0, 0, 0), "");
  EXPECT_NE(complaint(0, 99, 0, 0), "");
  EXPECT_NE(complaint(1, 2, 4, 0), "") << "an unknown flag";
  EXPECT_NE(complaint(0, 2, 2, 0), "") << "empty, and more follow: could go on for ever";
  EXPECT_NE(complaint(8, 6, 2, 0), "") << "a ping is one frame";
  EXPECT_NE(complaint(1, 2, 0, 1), "") << "a message is in no stream";
  EXPECT_NE(complaint(1, 3, 0, 0), "") << "a request is in one";
  EXPECT_EQ(complaint(kMaxCircuitPayload, 14, 0, 1), "");
  EXPECT_NE(complaint(kMaxCircuitPayload + 1, 14, 0, 1), "") << "a piece of a circuit is short";
  EXPECT_NE(complaint(1, 14, 0, 0), "") << "a circuit has a number";
  EXPECT_NE(complaint(34, 10, 0, 1), "") << "a call has none";
}

TEST(MessageAssembler, PutsMessagesOfTwoLanesTogether) {
  MessageAssembler assembler;
  Bytes first(10, 1), second(5, 2);
  ASSERT_FALSE(assembler.add({.lane = Lane::bulk, .more = true, .payload = first}).value());
  EXPECT_TRUE(assembler.unfinished(Lane::bulk));
  EXPECT_EQ(assembler.add({.payload = second}).value()->bytes, second);
  auto message = assembler.add({.lane = Lane::bulk, .payload = second}).value();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->bytes.size(), 15u);
  EXPECT_FALSE(assembler.unfinished(Lane::bulk));
}

TEST(MessageAssembler, RefusesMixedAndEndlessMessages) {
  Bytes part(kMaxFramePayload);
  MessageAssembler mixed;
  ASSERT_TRUE(mixed.add({.kind = FrameKind::request, .more = true, .stream = 1, .payload = part}));
  EXPECT_FALSE(mixed.add({.kind = FrameKind::request, .more = true, .stream = 2, .payload = part}));
  MessageAssembler endless;
  for (std::size_t i = 0; i < kMaxMessageBytes / kMaxFramePayload; ++i) ASSERT_TRUE(endless.add({.more = true, .payload = part}));
  Bytes one(1);
  EXPECT_FALSE(endless.add({.more = true, .payload = one}));
}

}  // namespace
}  // namespace gw::transport
