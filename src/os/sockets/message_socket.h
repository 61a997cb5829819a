#pragma once
// Whole messages, with descriptors beside them, over a connected unix stream socket.

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "os/files/unique_fd.h"

namespace gw::os {

struct Message {
  Bytes payload;
  std::vector<UniqueFd> descriptors;
};

// An end of the socket between a worker and its parent. The other end may be hostile: what it sends is bounded before memory is taken for
// it, and anything that breaks the format is an error after which the connection is of no use.
//
// On the wire a message is a u32 (lower 24 bits: length of the payload, upper 8: number of descriptors), then the payload. Descriptors
// travel with the first byte of their message, so they are there when its last byte is.
//
// Never blocks: wait with poll(2) for POLLIN, and for POLLOUT while wants_write(). Belongs to one thread.
class MessageSocket {
 public:
  static constexpr std::size_t kMaxPayload = 2u << 20;
  static constexpr std::size_t kMaxDescriptors = 4;
  static constexpr std::size_t kMaxQueuedBytes = 64u << 20;
  static constexpr std::size_t kMaxQueuedMessages = 1u << 16;

  // Two connected ends, both closed by exec.
  static Result<std::pair<UniqueFd, UniqueFd>> make_pair();

  explicit MessageSocket(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  struct Received {
    std::vector<Message> messages;
    bool closed = false;  // the other end is gone, nothing comes after these
  };
  // Takes what is there, at most a few MiB in one call. Kind::invalid: the other end broke the format.
  Result<Received> on_readable();

  // Kind::overloaded: the other end does not read; the message is not queued. REQUIRES: payload and descriptors within the limits.
  Status queue(Message message);
  bool wants_write() const { return !outgoing_.empty(); }
  std::size_t queued_bytes() const { return queued_bytes_; }
  // Sends as much as fits. Kind::disconnected: the other end is gone.
  Status on_writable();

 private:
  struct Header {
    std::size_t length, descriptors;
  };
  struct Outgoing {
    Message message;
    Bytes header;
    std::size_t sent = 0;  // of header and payload together
    std::size_t size() const { return header.size() + message.payload.size(); }
  };
  enum class Taken : unsigned char { some, nothing, end };

  Result<Taken> take();
  Status split_into(std::vector<Message>& messages);
  Result<Header> header_at(std::size_t position) const;

  UniqueFd socket_;
  Bytes incoming_;                  // less than one message, between calls
  std::deque<UniqueFd> passed_in_;  // descriptors of messages that are not complete yet
  std::deque<Outgoing> outgoing_;
  std::size_t queued_bytes_ = 0;
};

}  // namespace gw::os
