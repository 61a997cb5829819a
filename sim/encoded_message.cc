#include "encoded_message.h"

#include <algorithm>

namespace gw::sim {
namespace {

using Form = EncodedField::Form;

constexpr int kDeepest = 8;
constexpr std::uint64_t kHighestName = 100;  // our messages have none above

std::optional<EncodedMessage> read(ByteView bytes, int depth);

std::optional<EncodedField> read_field(ByteReader& reader, int depth) {
  const auto tag = reader.leb_u64();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kHighestName) return std::nullopt;
  EncodedField field{.name = static_cast<std::uint32_t>(*tag >> 3), .form = static_cast<Form>(*tag & 7)};
  Result<std::uint64_t> number = 0u;
  switch (field.form) {
    case Form::number:
      number = reader.leb_u64();
      break;
    case Form::fixed64:
      number = reader.u64();
      break;
    case Form::fixed32:
      if (const auto narrow = reader.u32(); narrow) {
        number = *narrow;
      } else {
        return std::nullopt;
      }
      break;
    case Form::bytes: {
      const auto size = reader.leb_u64();
      if (!size || *size > reader.remaining()) return std::nullopt;
      const ByteView content = *reader.bytes(static_cast<std::size_t>(*size));
      if (auto inner = depth < kDeepest && !content.empty() ? read(content, depth + 1) : std::nullopt) {
        field.inner = *std::move(inner);
      } else {
        field.bytes.assign(content.begin(), content.end());
      }
      break;
    }
    default:
      return std::nullopt;
  }
  if (!number) return std::nullopt;
  field.number = *number;
  return field;
}

std::optional<EncodedMessage> read(ByteView bytes, int depth) {
  ByteReader reader(bytes);
  EncodedMessage message;
  while (!reader.at_end()) {
    auto field = read_field(reader, depth);
    if (!field) return std::nullopt;
    message.push_back(*std::move(field));
  }
  if (!std::ranges::equal(write_message(message), bytes)) return std::nullopt;
  return message;
}

void write(const EncodedField& field, ByteWriter& writer) {
  writer.leb_u64(std::uint64_t{field.name} << 3 | static_cast<std::uint64_t>(field.form));
  switch (field.form) {
    case Form::number:
      return writer.leb_u64(field.number);
    case Form::fixed64:
      return writer.u64(field.number);
    case Form::fixed32:
      return writer.u32(static_cast<std::uint32_t>(field.number));
    case Form::bytes: {
      const Bytes inner = field.is_message() ? write_message(field.inner) : Bytes();
      const ByteView content = field.is_message() ? ByteView(inner) : ByteView(field.bytes);
      writer.leb_u64(content.size());
      return writer.bytes(content);
    }
  }
}

}  // namespace

std::optional<EncodedMessage> read_message(ByteView bytes) { return read(bytes, 0); }

Bytes write_message(const EncodedMessage& message) {
  ByteWriter writer;
  for (const EncodedField& field : message) write(field, writer);
  return writer.take();
}

}  // namespace gw::sim
