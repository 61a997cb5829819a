#include "job/authority/charter.h"

#include <algorithm>

namespace gw::job {
namespace {

constexpr std::uint32_t kCharterVersion = 1;

Status require_charter(bool condition, const char* rule) {
  if (!condition) return fail(Kind::invalid, "the charter of the job is invalid: {}", rule);
  return ok();
}

// Prefix of the signed text: the same key signs other kinds of text too.
Bytes charter_text(const std::string& charter) {
  constexpr std::string_view kTitle = "godwit charter 1";
  Bytes text(kTitle.begin(), kTitle.end());
  text.insert(text.end(), charter.begin(), charter.end());
  return text;
}

}  // namespace

std::uint64_t nonce_of_key(std::string_view key) {
  const Hash256 hash = sha256(as_bytes(fmt::format("godwit key {}", key)));
  std::uint64_t nonce = 0;
  for (std::size_t i = 0; i < sizeof nonce; ++i) nonce |= std::uint64_t{hash.bytes[i]} << (8 * i);
  return nonce;
}

Result<Charter> Charter::check(ByteView bytes) {
  wire::pb::SignedCharter envelope;
  wire::pb::JobCharter content;
  if (!envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !content.ParseFromString(envelope.charter()))
    return fail(Kind::invalid, "the charter of a job cannot be read");
  Charter charter;
  charter.signed_.set_charter(envelope.charter());
  charter.signed_.set_signature(envelope.signature());
  // A job has one id: refuse the same charter in another encoding or with unsigned fields, which would have another id.
  GW_TRY_VOID(require_charter(charter.bytes() == as_text(bytes), "it is not encoded as godwit does it"));
  GW_TRY_VOID(require_charter(content.version() == kCharterVersion, "its version is not known here; update godwit"));
  PublicKey submitter;
  GW_TRY_VOID(require_charter(content.submitter().size() == submitter.size(), "the submitter's key has 32 bytes"));
  GW_TRY_VOID(require_charter(content.first_home().size() == sizeof(Hash256), "a peer is named by 32 bytes"));
  GW_TRY_VOID(require_charter(content.grid().empty() || content.grid().size() == sizeof(Hash256), "a grid is named by 32 bytes"));
  GW_TRY_VOID(require_charter(content.manifest().size() == sizeof(Hash256), "the manifest's hash has 32 bytes"));
  GW_TRY_VOID(require_charter(content.key().size() <= kMaxKey, "a key has at most 128 bytes"));
  GW_TRY_VOID(
      require_charter(content.key().empty() || content.nonce() == nonce_of_key(content.key()), "the nonce does not follow from the key"));
  std::ranges::copy(as_bytes(content.submitter()), submitter.begin());
  GW_TRY_VOID(verify(submitter, charter_text(charter.signed_.charter()), as_bytes(charter.signed_.signature())));
  charter.id_ = {sha256(bytes)};
  charter.first_home_ = PeerId::from(content.first_home());
  if (!content.grid().empty()) charter.grid_ = wire::GridId::from(content.grid());
  charter.submitter_ = wire::hash_of(content.submitter());
  charter.manifest_ = wire::hash_of(content.manifest());
  charter.key_ = content.key();
  return charter;
}

Bytes Charter::sign(wire::pb::JobCharter content, const SigningKey& key) {
  content.set_version(kCharterVersion);
  content.set_submitter(std::string(as_text(key.public_key())));
  wire::pb::SignedCharter envelope;
  envelope.set_charter(content.SerializeAsString());
  envelope.set_signature(std::string(as_text(key.sign(charter_text(envelope.charter())))));
  const std::string bytes = envelope.SerializeAsString();
  return {bytes.begin(), bytes.end()};
}

}  // namespace gw::job
