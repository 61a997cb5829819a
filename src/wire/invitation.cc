#include "wire/invitation.h"

#include <algorithm>

#include "wire/base32.h"
#include "wire/grid_name.h"
#include "wire/messages/overlay_messages.h"

namespace gw::wire {
namespace {

constexpr std::string_view kSigned = "godwit invitation 1";  // no other text that a grid key signs begins like this
constexpr std::uint8_t kInvitationVersion = 1;
constexpr std::size_t kSumBytes = 4;
constexpr std::size_t kTailBytes = sizeof(Signature) + kSumBytes;
constexpr std::uint64_t kMembers = 0xffff;  // the part of a serial that tells members of one invitation apart

Error damaged() {
  return fail(Kind::corrupt, "the invitation is damaged (wrong checksum): paste the whole line that 'godwit grid invite' printed");
}

void short_text(ByteWriter& writer, std::string_view text) {
  writer.u8(static_cast<std::uint8_t>(text.size()));
  writer.bytes(as_bytes(text));
}

Result<std::string> short_text(ByteReader& reader) {
  GW_TRY(const std::uint8_t size, reader.u8());
  GW_TRY(const ByteView text, reader.bytes(size));
  return std::string(as_text(text));
}

ByteWriter body_of(const Invitation& invitation) {
  ByteWriter body;
  body.u8(kInvitationVersion);
  body.bytes(invitation.grid_key);
  body.u64(invitation.serial);
  body.u64(invitation.until);
  body.u16(invitation.uses);
  body.u8(static_cast<std::uint8_t>(invitation.role));
  short_text(body, invitation.name);
  body.u8(static_cast<std::uint8_t>(invitation.addresses.size()));
  for (const std::string& address : invitation.addresses) short_text(body, address);
  return body;
}

Bytes signed_text(ByteView body) {
  ByteWriter text;
  text.bytes(as_bytes(kSigned));
  text.bytes(body);
  return text.take();
}

// After the version.
Result<Invitation> read_body(ByteReader reader) {
  Invitation invitation;
  GW_TRY(const ByteView key, reader.bytes(invitation.grid_key.size()));
  std::ranges::copy(key, invitation.grid_key.begin());
  GW_TRY(invitation.serial, reader.u64());
  GW_TRY(invitation.until, reader.u64());
  GW_TRY(invitation.uses, reader.u16());
  GW_TRY(const std::uint8_t role, reader.u8());
  GW_TRY(invitation.name, short_text(reader));
  GW_TRY(const std::uint8_t addresses, reader.u8());
  if (addresses > kMaxInvitationAddresses || role > static_cast<std::uint8_t>(Invitation::Role::holder))
    return fail(Kind::corrupt, "a number in it is out of range");
  invitation.role = static_cast<Invitation::Role>(role);
  for (std::uint8_t i = 0; i < addresses; ++i) {
    GW_TRY(std::string address, short_text(reader));
    invitation.addresses.push_back(std::move(address));
  }
  if (!reader.at_end()) return fail(Kind::corrupt, "there are bytes after its end");
  return invitation;
}

Status check_content(const Invitation& invitation) {
  GW_TRY_VOID(check_grid_name(invitation.name));
  if (invitation.uses == 0 || invitation.serial == 0 || (invitation.serial & kMembers) != 0 || invitation.addresses.empty())
    return fail(Kind::corrupt, "it admits no machine");
  for (const std::string& address : invitation.addresses)
    if (!is_address(address) || address.size() > kMaxInvitationAddressBytes) return fail(Kind::corrupt, "an address in it is malformed");
  return ok();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Scheme, spelling, check sum.
Result<Bytes> unwrap(std::string_view text) {
  if (!looks_like_invitation(text)) return fail(Kind::invalid, "this is not an invitation: invitations begin with 'godwit:'");
  if (text.size() > kMaxInvitationText)
    return fail(Kind::invalid, "this is not an invitation: it has {} characters, the limit is {}", text.size(), kMaxInvitationText);
  auto bytes = parse_base32(text.substr(kInvitationScheme.size()));
  if (!bytes || bytes->size() < 1 + kTailBytes) return damaged();
  const Hash256 sum = sha256(ByteView(*bytes).first(bytes->size() - kSumBytes));
  if (!std::equal(sum.bytes.begin(), sum.bytes.begin() + kSumBytes, bytes->end() - kSumBytes)) return damaged();
  return bytes;
}

}  // namespace

void sign(const SigningKey& grid, Invitation& invitation) {
  GW_ASSERT(grid.public_key() == invitation.grid_key && check_content(invitation));
  invitation.signature = grid.sign(signed_text(body_of(invitation).view()));
}

std::string text_of(const Invitation& invitation) {
  ByteWriter whole = body_of(invitation);
  whole.bytes(invitation.signature);
  whole.bytes(ByteView(sha256(whole.view()).bytes).first(kSumBytes));
  return std::string(kInvitationScheme) + base32(whole.view());
}

Result<Invitation> parse_invitation(std::string_view text) {
  GW_TRY(const Bytes bytes, unwrap(trimmed(text)));
  if (bytes.front() != kInvitationVersion)
    return fail(Kind::unsupported, "the invitation has version {}, which this godwit does not support: install a newer version",
                bytes.front());
  const ByteView body = ByteView(bytes).first(bytes.size() - kTailBytes);
  auto invitation = read_body(ByteReader(body.subspan(1)));
  Status content = invitation ? check_content(*invitation) : Status(invitation.error());
  if (!content) return fail(Kind::corrupt, "the invitation is invalid ({}): ask for a new one", content.error().detail);
  std::ranges::copy(ByteView(bytes).subspan(body.size(), sizeof(Signature)), invitation->signature.begin());
  if (!verify(invitation->grid_key, signed_text(body), invitation->signature))
    return fail(Kind::corrupt,
                "the invitation was altered, or made with a wrong key: the key of its grid did not sign it; ask for another one");
  return invitation;
}

}  // namespace gw::wire
