#include "job/manifest.h"

#include <algorithm>
#include <set>

#include "wire/image.h"
#include "wire/worker_frames.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kVersion = 2;

Status require(bool condition, const char* rule) {
  if (!condition) return fail(Kind::invalid, "the manifest of a job is not right: {}", rule);
  return ok();
}

Status check_module(const wire::pb::Manifest::Module& module) {
  GW_TRY_VOID(require(module.hash().size() == sizeof(Hash256), "the module's hash has 32 bytes"));
  GW_TRY_VOID(require(module.size() > 0 && module.size() <= wire::kMaxModuleBytes, "a module has up to 256 MiB"));
  const std::uint64_t chunks = (module.size() + wire::kInputChunkBytes - 1) / wire::kInputChunkBytes;
  GW_TRY_VOID(require(static_cast<std::uint64_t>(module.chunks_size()) == chunks, "the module has one hash for each MiB"));
  const auto is_hash = [](const std::string& chunk) { return chunk.size() == sizeof(Hash256); };
  return require(std::ranges::all_of(module.chunks(), is_hash), "a hash has 32 bytes");
}

Status check_content(const wire::pb::Manifest& content) {
  GW_TRY_VOID(require(content.version() == kVersion, "its version is not known here; update godwit"));
  GW_TRY_VOID(check_module(content.module()));
  GW_TRY_VOID(wire::check_config(content.config()));
  GW_TRY_VOID(require(content.tasks_size() == 1 || !content.standard_input(), "standard input is one task's: an array has none"));
  GW_TRY_VOID(require(content.tasks_size() == 1 || content.config().outputs().empty(), "output files are one task's: an array has none"));
  GW_TRY_VOID(
      require(content.tasks_size() >= 1 && content.tasks_size() <= static_cast<int>(wire::kMaxTasks), "a job has 1 to 10000 tasks"));
  return require(content.policy().slots() >= 1 && content.policy().slots() <= wire::kMaxJobSlots, "a job wants 1 to 65536 slots");
}

}  // namespace

Result<Manifest> Manifest::check(ByteView bytes) {
  GW_TRY_VOID(require(bytes.size() <= wire::kMaxManifestBytes, "it is longer than 1 MiB"));
  Manifest manifest;
  if (!manifest.content_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(Kind::invalid, "the manifest of a job cannot be read");
  GW_TRY_VOID(check_content(manifest.content_));
  return manifest;
}

Bytes Manifest::encode(wire::pb::Manifest content) {
  content.set_version(kVersion);
  const std::string bytes = content.SerializeAsString();
  return {bytes.begin(), bytes.end()};
}

std::string Manifest::name() const {
  constexpr std::size_t kShown = 256;
  return content_.config().args().empty() ? "" : content_.config().args(0).substr(0, kShown);
}

wire::pb::ThreadConfig Manifest::config_of(std::uint32_t task) const {
  GW_ASSERT(task < tasks());
  wire::pb::ThreadConfig config = content_.config();
  const wire::pb::Manifest::Task& own = content_.tasks(static_cast<int>(task));
  for (const std::string& argument : own.args()) config.add_args(argument);
  for (const std::string& variable : own.env()) config.add_env(variable);
  ByteWriter seed;
  seed.bytes(as_bytes(content_.config().random_seed()));
  seed.u32(task);
  config.set_random_seed(wire::bytes_of(sha256(seed.take())));
  return config;
}

std::vector<Hash256> Manifest::module_chunks() const {
  std::vector<Hash256> chunks;
  for (const std::string& chunk : content_.module().chunks()) chunks.push_back(wire::hash_of(chunk));
  return chunks;
}

std::vector<Hash256> Manifest::all_chunks() const {
  std::set<Hash256> chunks;
  for (const Hash256& chunk : module_chunks()) chunks.insert(chunk);
  for (const wire::pb::InputEntry& entry : content_.config().inputs())
    for (const std::string& chunk : entry.chunks()) chunks.insert(wire::hash_of(chunk));
  return {chunks.begin(), chunks.end()};
}

}  // namespace gw::job
