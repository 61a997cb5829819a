#pragma once
// A protobuf message as a tree of fields, without its schema: for tests that change fields of any message.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace gw::sim {

// A field as it is encoded. The encoding does not say whether bytes are a message: bytes that can be read as a message and written back
// unchanged are taken for one. A wrong guess does no harm, since every byte can still be changed.
struct EncodedField {
  enum class Form : std::uint8_t { number = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::uint32_t name = 0;  // its number in the .proto file
  Form form = Form::number;
  std::uint64_t number = 0;         // unless it is bytes
  Bytes bytes;                      // that are no message
  std::vector<EncodedField> inner;  // of a message
  bool is_message() const { return !inner.empty(); }
};

using EncodedMessage = std::vector<EncodedField>;

// None if the bytes are not a message, or would differ when written back.
std::optional<EncodedMessage> read_message(ByteView bytes);
Bytes write_message(const EncodedMessage& message);

}  // namespace gw::sim
