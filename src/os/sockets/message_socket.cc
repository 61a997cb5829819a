#include "os/sockets/message_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/files/io.h"

namespace gw::os {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kReadPiece = 256u << 10;
constexpr std::size_t kReadPerCall = 4u << 20;
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * MessageSocket::kMaxDescriptors);

// Room for the descriptors beside one message.
union Control {
  cmsghdr align;
  std::array<char, kControlBytes> bytes;
};

void take_descriptors(msghdr& header, std::deque<UniqueFd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    std::array<int, MessageSocket::kMaxDescriptors> fds{};
    const std::size_t count = std::min((part->cmsg_len - CMSG_LEN(0)) / sizeof(int), fds.size());
    std::memcpy(fds.data(), CMSG_DATA(part), count * sizeof(int));
    for (std::size_t i = 0; i < count; i++) into.emplace_back(fds[i]);
  }
}

void put_descriptors(const std::vector<UniqueFd>& descriptors, msghdr& header, Control& control) {
  std::array<int, MessageSocket::kMaxDescriptors> fds{};
  std::ranges::transform(descriptors, fds.begin(), [](const UniqueFd& fd) { return fd.get(); });
  header.msg_control = control.bytes.data();
  header.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
  std::memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * descriptors.size());
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> MessageSocket::make_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return fail(Kind::internal, "cannot create a pair of sockets: {}", reason(errno));
  return std::pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

Result<MessageSocket::Received> MessageSocket::on_readable() {
  Received received;
  for (std::size_t read = 0; read < kReadPerCall;) {
    const std::size_t before = incoming_.size();
    GW_TRY(const Taken taken, take());
    read += incoming_.size() - before;
    received.closed = taken == Taken::end;
    if (taken != Taken::some) break;
    // After each piece, so that what waits here is never more than one message and one piece, and no more descriptors than one may have.
    GW_TRY_VOID(split_into(received.messages));
  }
  if (received.closed && !incoming_.empty()) return fail(Kind::invalid, "the other end closed the connection in the middle of a message");
  return received;
}

Result<MessageSocket::Taken> MessageSocket::take() {
  const std::size_t before = incoming_.size();
  incoming_.resize(before + kReadPiece);
  iovec room{incoming_.data() + before, kReadPiece};
  Control control;
  msghdr header{};
  header.msg_iov = &room;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  incoming_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && (error == EAGAIN || error == EWOULDBLOCK)) return Taken::nothing;
  if (got == 0 || (got < 0 && error == ECONNRESET)) return Taken::end;
  if (got < 0) return fail(Kind::internal, "cannot receive from a socket: {}", reason(error));
  take_descriptors(header, passed_in_);
  if ((header.msg_flags & MSG_CTRUNC) != 0)
    return fail(Kind::invalid, "the other end sent more than {} descriptors with a message, or this process can hold no more",
                kMaxDescriptors);
  return Taken::some;
}

Result<MessageSocket::Header> MessageSocket::header_at(std::size_t position) const {
  GW_TRY(const std::uint32_t word, ByteReader(ByteView(incoming_).subspan(position)).u32());
  const Header header{word & 0xff'ffff, word >> 24};
  if (header.length > kMaxPayload)
    return fail(Kind::invalid, "the other end announced a message of {} bytes, at most {} are allowed", header.length, kMaxPayload);
  if (header.descriptors > kMaxDescriptors)
    return fail(Kind::invalid, "the other end announced {} descriptors, at most {} are allowed", header.descriptors, kMaxDescriptors);
  return header;
}

Status MessageSocket::split_into(std::vector<Message>& messages) {
  std::size_t position = 0;
  while (incoming_.size() - position >= kHeaderBytes) {
    GW_TRY(const Header header, header_at(position));
    if (incoming_.size() - position - kHeaderBytes < header.length) break;
    if (passed_in_.size() < header.descriptors)
      return fail(Kind::invalid, "the other end announced {} descriptors and sent {}", header.descriptors, passed_in_.size());
    const auto payload = incoming_.begin() + static_cast<std::ptrdiff_t>(position + kHeaderBytes);
    Message& message = messages.emplace_back();
    message.payload.assign(payload, payload + static_cast<std::ptrdiff_t>(header.length));
    for (std::size_t i = 0; i < header.descriptors; i++) {
      message.descriptors.push_back(std::move(passed_in_.front()));
      passed_in_.pop_front();
    }
    position += kHeaderBytes + header.length;
  }
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(position));
  const bool between_messages = incoming_.empty();
  if (passed_in_.size() > (between_messages ? 0 : kMaxDescriptors))
    return fail(Kind::invalid, "the other end sent descriptors that belong to no message");
  return ok();
}

Status MessageSocket::queue(Message message) {
  GW_ASSERT(message.payload.size() <= kMaxPayload && message.descriptors.size() <= kMaxDescriptors);
  ByteWriter header;
  header.u32(static_cast<std::uint32_t>(message.payload.size() | message.descriptors.size() << 24));
  Outgoing outgoing{std::move(message), header.take()};
  if (queued_bytes_ + outgoing.size() > kMaxQueuedBytes || outgoing_.size() >= kMaxQueuedMessages)
    return fail(Kind::overloaded, "{} bytes in {} messages wait for the other end, which does not read them", queued_bytes_,
                outgoing_.size());
  queued_bytes_ += outgoing.size();
  outgoing_.push_back(std::move(outgoing));
  return ok();
}

Status MessageSocket::on_writable() {
  while (!outgoing_.empty()) {
    Outgoing& next = outgoing_.front();
    const std::size_t of_header = std::min(next.sent, next.header.size()), of_payload = next.sent - of_header;
    std::array<iovec, 2> parts{{{next.header.data() + of_header, next.header.size() - of_header},
                                {next.message.payload.data() + of_payload, next.message.payload.size() - of_payload}}};
    Control control;
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = parts.size();
    if (next.sent == 0 && !next.message.descriptors.empty()) put_descriptors(next.message.descriptors, header, control);
    const ssize_t put = ::sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return ok();
    if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) return fail(Kind::disconnected, "the other end of the socket is gone");
    if (put < 0) return fail(Kind::internal, "cannot send to a socket: {}", reason(errno));
    next.sent += static_cast<std::size_t>(put);
    queued_bytes_ -= static_cast<std::size_t>(put);
    if (next.sent == next.size()) outgoing_.pop_front();
  }
  return ok();
}

}  // namespace gw::os
