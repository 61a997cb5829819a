#include "os/sockets/message_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "os/sealed_memory.h"

namespace gw::os {
namespace {

struct Ends {
  MessageSocket here, there;
};

Ends make_ends() {
  auto pair = MessageSocket::make_pair();
  return {MessageSocket(std::move(pair->first)), MessageSocket(std::move(pair->second))};
}

Message text(std::string_view content) { return {Bytes(as_bytes(content).begin(), as_bytes(content).end()), {}}; }

UniqueFd memory(std::string_view content) { return *SealedMemory::make("test", as_bytes(content))->share(); }

void write_raw(int fd, ByteView bytes) { ASSERT_EQ(::send(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size())); }

TEST(MessageSocket, KeepsTheBordersOfMessages) {
  Ends ends = make_ends();
  for (std::string_view content : {"one", "", "three"}) ASSERT_TRUE(ends.here.queue(text(content)));
  ASSERT_TRUE(ends.here.on_writable());
  EXPECT_FALSE(ends.here.wants_write());
  EXPECT_EQ(ends.here.queued_bytes(), 0u);
  auto received = ends.there.on_readable();
  ASSERT_TRUE(received);
  ASSERT_EQ(received->messages.size(), 3u);
  EXPECT_EQ(as_text(received->messages[0].payload), "one");
  EXPECT_EQ(as_text(received->messages[1].payload), "");
  EXPECT_EQ(as_text(received->messages[2].payload), "three");
  EXPECT_FALSE(received->closed);
}

// Finding N17: what one end did not read filled the memory of the other.
TEST(MessageSocket, QueuesNoMoreThanItsLimitsForAnEndThatDoesNotRead) {
  Ends ends = make_ends();
  std::size_t queued = 0;
  Status status;
  for (; status && queued <= MessageSocket::kMaxQueuedBytes / MessageSocket::kMaxPayload; ++queued)
    status = ends.here.queue({Bytes(MessageSocket::kMaxPayload), {}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, Kind::overloaded);
  EXPECT_LE(ends.here.queued_bytes(), MessageSocket::kMaxQueuedBytes);
  const std::size_t before = ends.here.queued_bytes();
  EXPECT_FALSE(ends.here.queue({Bytes(MessageSocket::kMaxPayload), {}}));
  EXPECT_EQ(ends.here.queued_bytes(), before) << "what is refused is not queued";

  Ends others = make_ends();
  for (std::size_t i = 0; i < MessageSocket::kMaxQueuedMessages; ++i) ASSERT_TRUE(others.here.queue(text("")));
  EXPECT_EQ(others.here.queue(text("")).error().kind, Kind::overloaded) << "small messages are limited by their number";
}

TEST(MessageSocket, LargeMessagesCrossInPieces) {
  Ends ends = make_ends();
  Bytes large(MessageSocket::kMaxPayload);
  for (std::size_t i = 0; i < large.size(); i++) large[i] = static_cast<std::uint8_t>(i * 7);
  ASSERT_TRUE(ends.here.queue({large, {}}));
  std::vector<Message> got;
  while (got.empty()) {
    ASSERT_TRUE(ends.here.on_writable());
    auto received = ends.there.on_readable();
    ASSERT_TRUE(received);
    for (Message& message : received->messages) got.push_back(std::move(message));
  }
  EXPECT_EQ(got[0].payload, large);
}

TEST(MessageSocket, DescriptorsArriveWithTheirMessage) {
  Ends ends = make_ends();
  ASSERT_TRUE(ends.here.queue(text("none")));
  Message two = text("two");
  two.descriptors.push_back(memory("a"));
  two.descriptors.push_back(memory("b"));
  ASSERT_TRUE(ends.here.queue(std::move(two)));
  ASSERT_TRUE(ends.here.queue(text("none")));
  Message one = text("one");
  one.descriptors.push_back(memory("c"));
  ASSERT_TRUE(ends.here.queue(std::move(one)));
  ASSERT_TRUE(ends.here.on_writable());
  auto received = ends.there.on_readable();
  ASSERT_TRUE(received);
  ASSERT_EQ(received->messages.size(), 4u);
  EXPECT_EQ(received->messages[0].descriptors.size(), 0u);
  ASSERT_EQ(received->messages[1].descriptors.size(), 2u);
  EXPECT_EQ(received->messages[2].descriptors.size(), 0u);
  ASSERT_EQ(received->messages[3].descriptors.size(), 1u);
  auto second = SealedMemory::open_sealed(std::move(received->messages[1].descriptors[1]), 10);
  ASSERT_TRUE(second);
  EXPECT_EQ(as_text(second->bytes()), "b");
}

TEST(MessageSocket, RefusesLengthsBeyondTheLimit) {
  Ends ends = make_ends();
  ByteWriter forged;
  forged.u32(MessageSocket::kMaxPayload + 1);
  write_raw(ends.here.fd(), forged.view());
  auto received = ends.there.on_readable();
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().kind, Kind::invalid);
}

TEST(MessageSocket, RefusesDescriptorsThatAreAnnouncedAndMissing) {
  Ends ends = make_ends();
  ByteWriter forged;
  forged.u32(1u << 24);
  write_raw(ends.here.fd(), forged.view());
  EXPECT_FALSE(ends.there.on_readable());
}

// A raw sendmsg that no honest end makes.
void send_with_descriptors(int socket, ByteView bytes, int fd, std::size_t count) {
  std::array<char, CMSG_SPACE(sizeof(int) * 16)> control{};
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
  for (std::size_t i = 0; i < count; i++) std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &fd, sizeof fd);
  ASSERT_EQ(::sendmsg(socket, &header, 0), static_cast<ssize_t>(bytes.size()));
}

TEST(MessageSocket, RefusesUnannouncedDescriptors) {
  Ends ends = make_ends();
  UniqueFd extra = memory("x");
  ByteWriter message;
  message.u32(1);
  message.u8('m');
  send_with_descriptors(ends.here.fd(), message.view(), extra.get(), 1);
  EXPECT_FALSE(ends.there.on_readable());
}

TEST(MessageSocket, RefusesMoreDescriptorsThanAMessageMayHave) {
  Ends ends = make_ends();
  UniqueFd extra = memory("x");
  ByteWriter message;
  message.u32(1);
  message.u8('m');
  send_with_descriptors(ends.here.fd(), message.view(), extra.get(), 16);
  EXPECT_FALSE(ends.there.on_readable());
}

// Bytes that trickle in, each with descriptors beside it, must not pile up.
TEST(MessageSocket, RefusesDescriptorsThatPileUpInAnUnfinishedMessage) {
  Ends ends = make_ends();
  UniqueFd extra = memory("x");
  ByteWriter message;
  message.u32(1000);
  send_with_descriptors(ends.here.fd(), message.view(), extra.get(), 4);
  ASSERT_TRUE(ends.there.on_readable());
  send_with_descriptors(ends.here.fd(), as_bytes("y"), extra.get(), 1);
  EXPECT_FALSE(ends.there.on_readable());
}

TEST(MessageSocket, SaysWhenTheOtherEndIsGone) {
  Ends ends = make_ends();
  ASSERT_TRUE(ends.here.queue(text("last words")));
  ASSERT_TRUE(ends.here.on_writable());
  ends.here = MessageSocket(UniqueFd());
  auto received = ends.there.on_readable();
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->closed);
  EXPECT_EQ(received->messages.size(), 1u);
  ASSERT_TRUE(ends.there.queue(text("hello?")));
  auto sent = ends.there.on_writable();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, Kind::disconnected);
}

TEST(MessageSocket, ACutOffMessageIsAnError) {
  Ends ends = make_ends();
  ByteWriter half;
  half.u32(10);
  half.u8(1);
  write_raw(ends.here.fd(), half.view());
  ends.here = MessageSocket(UniqueFd());
  EXPECT_FALSE(ends.there.on_readable());
}

TEST(MessageSocket, TheQueueIsBounded) {
  Ends ends = make_ends();
  const Bytes piece(MessageSocket::kMaxPayload);
  Status queued = ok();
  int count = 0;
  for (; queued && count < 1000; count++) queued = ends.here.queue({piece, {}});
  ASSERT_FALSE(queued);
  EXPECT_EQ(queued.error().kind, Kind::overloaded);
  EXPECT_LE(ends.here.queued_bytes(), MessageSocket::kMaxQueuedBytes);
}

}  // namespace
}  // namespace gw::os
