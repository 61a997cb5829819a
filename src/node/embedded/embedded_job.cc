#include "node/embedded/embedded_job.h"

#include <algorithm>
#include <random>

#include "job/authority/charter.h"
#include "job/authority/manifest.h"
#include "transport/identity/identity.h"

namespace gw::node {
namespace {

// The peer is alone: a command that was stopped for a day (Ctrl-Z) has not lost its claim to itself.
constexpr job::Time kForever = std::chrono::hours(24 * 365 * 100);
constexpr std::uint32_t kEmbeddedSlots = 4096;  // threads of a program that is resumed all run at once, in turns on one pool thread
constexpr std::string_view kOwnGrid = "command";

wire::pb::Manifest manifest_of_program(const wire::pb::JobSpec& spec, const EmbeddedProgram& program) {
  wire::pb::Manifest manifest;
  *manifest.mutable_module() = job::Manifest::describe(program.module);
  manifest.mutable_config()->add_args("program");
  manifest.mutable_config()->set_random_seed(std::string(32, '\0'));
  if (!program.image.empty()) *manifest.mutable_image() = job::Manifest::describe(program.image);
  manifest.set_standard_input(true);
  wire::pb::Manifest::Policy& policy = *manifest.mutable_policy();
  policy.set_slots(kEmbeddedSlots);
  policy.set_checkpoint_every_ns(spec.checkpoint_every_ns());
  *policy.mutable_limits() = spec.limits();
  return manifest;
}

Signature seal(const PublicKey& key, ByteView text) {
  Sha256 hash;
  hash.update(key);
  hash.update(text);
  const Hash256 digest = hash.finish();
  Signature signature{};
  std::ranges::copy(digest.bytes, signature.begin());
  return signature;
}

}  // namespace

CommandSigner::CommandSigner() : key_(sha256(as_bytes(std::string_view("the peer of a command"))).bytes) {}

wire::PeerId CommandSigner::id_of(const PublicKey& key) const { return {transport::id_of(key)}; }

Signature CommandSigner::sign(ByteView text) const { return seal(key_.public_key(), text); }

bool CommandSigner::is_signed(const PublicKey& key, ByteView text, const Signature& signature) const {
  return signature == seal(key, text);
}

peer::Peer::Config embedded_config(Survival survival) {
  peer::Peer::Config config;
  config.grids.grids = {std::string(kOwnGrid)};
  config.slots.slots = kEmbeddedSlots;
  config.slots.lease_for = kForever;
  config.home.slots.silence = config.home.slots.idle = config.unused_claim = kForever;
  config.home.output.job_bytes = ~std::uint64_t{0};  // its worker is its own: the limits of the program hold
  if (survival == Survival::none) config.home.mail.keep = config.home.input.keep = job::StandardInput::Config::Keep::until_taken;
  return config;
}

EmbeddedJob make_embedded_job(const wire::pb::JobSpec& spec, const EmbeddedProgram& program, const CommandSigner& signer) {
  EmbeddedJob made{.manifest = job::Manifest::encode(manifest_of_program(spec, program)), .signed_charter = {}, .id = {}};
  wire::pb::JobCharter charter;
  charter.set_nonce(random_number());
  charter.set_first_home(signer.self().bytes());
  charter.set_manifest(wire::bytes_of(sha256(made.manifest)));
  made.signed_charter = job::Charter::sign(charter, signer.key());
  made.id = {sha256(made.signed_charter)};
  return made;
}

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace gw::node
