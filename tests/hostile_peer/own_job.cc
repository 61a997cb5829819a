#include "own_job.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "base/hash.h"
#include "node/signer.h"
#include "overlay/membership/descriptor.h"

namespace gw::hostile {
namespace {

constexpr std::string_view kCharterTitle = "godwit charter 1", kRosterTitle = "godwit roster 1", kGrantTitle = "godwit grant 1",
                           kSearchTitle = "godwit search 1";
constexpr std::uint64_t kManifestVersion = 3, kCharterVersion = 1, kTerm = 1, kRosterVersion = 1, kRound = (std::uint64_t{1} << 32) + 1,
                        kRadiusNs = 1'000'000'000;

const pb::FieldDescriptor* field_of(const pb::Message& message, const char* name) {
  const pb::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) {
    fmt::print(stderr, "{} has no field {}: tests/hostile_peer must follow the protocol\n", message.GetDescriptor()->full_name(), name);
    std::exit(2);
  }
  return field;
}

std::string text_of(const Hash256& hash) { return std::string(as_text(hash.bytes)); }

}  // namespace

void set(pb::Message& message, const char* field, std::string value) {
  message.GetReflection()->SetString(&message, field_of(message, field), std::move(value));
}

void set(pb::Message& message, const char* name, std::uint64_t value) {
  const pb::FieldDescriptor* field = field_of(message, name);
  const pb::Reflection& reflection = *message.GetReflection();
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL) return reflection.SetBool(&message, field, value != 0);
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_UINT32)
    return reflection.SetUInt32(&message, field, static_cast<std::uint32_t>(value));
  reflection.SetUInt64(&message, field, value);
}

void add(pb::Message& message, const char* field, std::string value) {
  message.GetReflection()->AddString(&message, field_of(message, field), std::move(value));
}

std::string get_text(const pb::Message& message, const char* field) {
  return message.GetReflection()->GetString(message, field_of(message, field));
}

std::uint64_t get_number(const pb::Message& message, const char* name) {
  const pb::FieldDescriptor* field = field_of(message, name);
  const pb::Reflection& reflection = *message.GetReflection();
  return field->cpp_type() == pb::FieldDescriptor::CPPTYPE_UINT32 ? reflection.GetUInt32(message, field)
                                                                  : reflection.GetUInt64(message, field);
}

pb::Message& sub(pb::Message& message, const char* field) {
  return *message.GetReflection()->MutableMessage(&message, field_of(message, field));
}

pb::Message& add_sub(pb::Message& message, const char* field) {
  return *message.GetReflection()->AddMessage(&message, field_of(message, field));
}

OwnJob::OwnJob(const Protocol& protocol, const transport::Identity& self, const transport::PeerId& target, std::uint64_t nonce)
    : protocol_(protocol), self_(self), self_id_(text_of(self.id())), target_id_(text_of(target)) {
  const auto charter = protocol_.make("JobCharter");
  set(*charter, "version", kCharterVersion);
  set(*charter, "submitter", std::string(as_text(self_.public_key())));
  set(*charter, "nonce", nonce);
  set(*charter, "first_home", self_id_);
  set(*charter, "manifest", add_blob(manifest()));
  charter_ = charter->SerializeAsString();
  id_ = text_of(sha256(as_bytes(this->charter()->SerializeAsString())));
}

std::string OwnJob::manifest() {
  const auto manifest = protocol_.make("Manifest");
  set(*manifest, "version", kManifestVersion);
  const std::string program = "no program at all";
  pb::Message& module = sub(*manifest, "module");
  set(module, "hash", add_blob(program));
  set(module, "size", program.size());
  add(module, "chunks", add_blob(program));
  set(sub(*manifest, "config"), "random_seed", std::string(32, 's'));
  set(sub(*manifest, "policy"), "slots", std::uint64_t{1});
  return manifest->SerializeAsString();
}

std::string OwnJob::sign(std::string_view title, const std::string& content) const {
  return std::string(as_text(self_.sign(as_bytes(std::string(title) + content))));
}

std::unique_ptr<pb::Message> OwnJob::envelope(const char* type, const char* content_field, const std::string& content,
                                              std::string_view title) const {
  auto message = protocol_.make(type);
  set(*message, content_field, content);
  set(*message, "signature", sign(title, content));
  return message;
}

std::unique_ptr<pb::Message> OwnJob::charter() const { return envelope("SignedCharter", "charter", charter_, kCharterTitle); }

std::unique_ptr<pb::Message> OwnJob::roster() const {
  const auto roster = protocol_.make("JobRoster");
  set(*roster, "job", id_);
  set(*roster, "term", kTerm);
  set(*roster, "version", kRosterVersion);
  set(*roster, "leader_key", std::string(as_text(self_.public_key())));
  for (const std::string& peer : {self_id_, target_id_}) {
    pb::Message& member = add_sub(*roster, "members");
    set(member, "peer", peer);
    set(member, "host", std::uint64_t{1});
    set(member, "keeper", std::uint64_t{1});
  }
  return envelope("SignedRoster", "roster", roster->SerializeAsString(), kRosterTitle);
}

std::unique_ptr<pb::Message> OwnJob::grant(std::uint64_t thread, std::uint64_t epoch, std::uint64_t keeper_generation) const {
  const auto grant = protocol_.make("ThreadGrant");
  set(*grant, "job", id_);
  set(*grant, "term", kTerm);
  set(*grant, "thread", thread);
  set(*grant, "epoch", epoch);
  set(*grant, "keeper_generation", keeper_generation);
  set(*grant, "host", self_id_);
  add(*grant, "keepers", target_id_);
  return envelope("SignedGrant", "grant", grant->SerializeAsString(), kGrantTitle);
}

std::unique_ptr<pb::Message> OwnJob::search(const std::string& grid, std::uint64_t slots, std::uint32_t protocol_version) const {
  const auto query = protocol_.make("JobMessage.Query");
  set(*query, "job", id_);
  set(*query, "round", kRound);
  set(*query, "radius_ns", kRadiusNs);
  set(*query, "slots", slots);
  auto message = this->message("search", protocol_version);
  pb::Message& search = descend(*message, protocol_.kind("search"));
  sub(search, "charter").CopyFrom(*charter());
  set(search, "query", query->SerializeAsString());
  set(search, "signature", sign(kSearchTitle, query->SerializeAsString()));
  overlay::GridId id;
  std::ranges::copy(as_bytes(grid), id.hash.bytes.begin());
  overlay::Descriptor home{.key = self_.public_key(), .incarnation = {1, 1}};
  overlay::sign(id, node::PeerSigner(self_), home);
  wire::pb::Descriptor written;
  overlay::write(home, written);
  sub(search, "home").ParseFromString(written.SerializeAsString());
  return message;
}

std::unique_ptr<pb::Message> OwnJob::message(const std::string& kind, std::uint32_t protocol_version) const {
  auto message = protocol_.make();
  set(*message, "version", std::uint64_t{protocol_version});
  set(*message, "boot", std::uint64_t{1});
  descend(*message, protocol_.kind(kind));
  pb::Message& job = sub(*message, "job");
  set(job, "job", id_);
  set(job, "term", kTerm);
  set(job, "roster_version", kRosterVersion);
  return message;
}

std::string OwnJob::add_blob(std::string bytes) {
  const std::string hash = text_of(sha256(as_bytes(bytes)));
  blobs_.emplace(hash, std::move(bytes));
  return hash;
}

std::optional<std::string> OwnJob::blob(const std::string& hash) const {
  const auto found = blobs_.find(hash);
  return found == blobs_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace gw::hostile
