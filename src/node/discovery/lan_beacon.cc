#include "node/discovery/lan_beacon.h"

#include <algorithm>

namespace gw::node {
namespace {

constexpr std::string_view kMagic = "godwit 1";
constexpr std::string_view kTagPurpose = "godwit lan 1";
static_assert(kMagic.size() == 8);

}  // namespace

Bytes LanBeacon::encode() const {
  ByteWriter writer;
  writer.bytes(as_bytes(kMagic));
  writer.u16(port);
  writer.u64(number);
  writer.u8(static_cast<std::uint8_t>(tags.size()));
  for (const Tag& tag : tags) writer.bytes(tag);
  return writer.take();
}

Result<LanBeacon> LanBeacon::decode(ByteView bytes) {
  ByteReader reader(bytes);
  GW_TRY(const ByteView magic, reader.bytes(kMagic.size()));
  if (as_text(magic) != kMagic) return fail(Kind::invalid, "this is no beacon of a peer");
  LanBeacon beacon;
  GW_TRY(beacon.port, reader.u16());
  GW_TRY(beacon.number, reader.u64());
  GW_TRY(const std::uint8_t count, reader.u8());
  if (count > kMaxTags || beacon.port == 0 || reader.remaining() != count * kTagBytes) return fail(Kind::invalid, "this beacon is damaged");
  for (std::uint8_t i = 0; i < count; ++i) {
    GW_TRY(const ByteView tag, reader.bytes(kTagBytes));
    std::ranges::copy(tag, beacon.tags.emplace_back().begin());
  }
  return beacon;
}

LanBeacon::Tag tag_of(const peer::GridCredentials& grid, std::uint64_t number) {
  ByteWriter text;
  text.bytes(as_bytes(kTagPurpose));
  text.u64(number);
  text.bytes(grid.key ? ByteView(*grid.key) : ByteView(grid.id.hash.bytes));
  const Hash256 hash = sha256(text.view());
  LanBeacon::Tag tag;
  std::copy_n(hash.bytes.begin(), tag.size(), tag.begin());
  return tag;
}

}  // namespace gw::node
