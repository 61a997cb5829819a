#include "job/authority/manifest.h"

#include <algorithm>
#include <set>

#include "job/authority/task_config.h"
#include "wire/image/image.h"
#include "wire/messages/limits.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kVersion = 3;
constexpr std::uint64_t kMaxCheckpointInterval = std::uint64_t{1} << 50;  // nanoseconds: sums of times must not overflow

Status require(bool condition, const char* rule) {
  if (!condition) return fail(Kind::invalid, "the manifest of the job is invalid: {}", rule);
  return ok();
}

// A module, or an image.
Status check_pieces(const wire::pb::Manifest::Module& file) {
  GW_TRY_VOID(require(file.hash().size() == sizeof(Hash256), "the hash of a module or image has 32 bytes"));
  const std::uint64_t chunks = (file.size() + wire::kInputChunkBytes - 1) / wire::kInputChunkBytes;
  GW_TRY_VOID(require(static_cast<std::uint64_t>(file.chunks_size()) == chunks, "a module or image has one hash for each MiB"));
  const auto is_hash = [](const std::string& chunk) { return chunk.size() == sizeof(Hash256); };
  return require(std::ranges::all_of(file.chunks(), is_hash), "a hash has 32 bytes");
}

Status check_module(const wire::pb::Manifest::Module& module) {
  GW_TRY_VOID(require(module.size() > 0 && module.size() <= wire::kMaxModuleBytes, "a module has up to 256 MiB"));
  return check_pieces(module);
}

Status check_image(const wire::pb::Manifest& content) {
  if (!content.has_image()) return ok();
  GW_TRY_VOID(require(!content.has_array(), "an image is one task's: an array begins with none"));
  const wire::pb::Manifest::Module& image = content.image();
  GW_TRY_VOID(require(image.size() > 0 && image.size() <= Manifest::kMaxImageBytes, "an image has up to 8 GiB"));
  GW_TRY_VOID(require(image.size() <= wire::largest_image_bytes(content.policy().limits()),
                      "the image is larger than the limits on memory and files allow: raise them"));
  return check_pieces(image);
}

std::vector<Hash256> chunks_of(const wire::pb::Manifest::Module& file) {
  std::vector<Hash256> chunks;
  for (const std::string& chunk : file.chunks()) chunks.push_back(wire::hash_of(chunk));
  return chunks;
}

Status check_content(const wire::pb::Manifest& content) {
  GW_TRY_VOID(require(content.version() == kVersion, "its version is not known here; update godwit"));
  GW_TRY_VOID(check_module(content.module()));
  GW_TRY_VOID(wire::check_config(content.config()));
  const bool one_task = !content.has_array() || content.array().count() == 1;
  GW_TRY_VOID(require(one_task || !content.standard_input(), "standard input is one task's: an array has none"));
  GW_TRY_VOID(require(one_task || content.config().outputs().empty(), "output files are one task's: an array has none"));
  if (content.has_array() && (content.array().count() == 0 || content.array().count() > wire::kMaxTasks))
    return fail(Kind::invalid, "the job has {} tasks: it may have 1 to {}", content.array().count(), wire::kMaxTasks);
  GW_TRY_VOID(check_image(content));
  GW_TRY_VOID(require(content.policy().checkpoint_every_ns() <= kMaxCheckpointInterval, "checkpoints are at most 13 days apart"));
  GW_TRY_VOID(require(content.policy().promote_after_ns() <= kMaxCheckpointInterval, "a task becomes a thread within 13 days"));
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

std::vector<ByteView> Manifest::pieces_of(ByteView file) {
  std::vector<ByteView> pieces;
  for (; !file.empty(); file = file.subspan(pieces.back().size()))
    pieces.push_back(file.first(std::min<std::size_t>(file.size(), wire::kInputChunkBytes)));
  return pieces;
}

wire::pb::Manifest::Module Manifest::describe(ByteView file) {
  wire::pb::Manifest::Module described;
  described.set_hash(wire::bytes_of(sha256(file)));
  described.set_size(file.size());
  for (const ByteView piece : pieces_of(file)) described.add_chunks(wire::bytes_of(sha256(piece)));
  return described;
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
  return config_of_task(content_.config(), task, content_.array().count());
}

std::vector<Hash256> Manifest::module_chunks() const { return chunks_of(content_.module()); }

const wire::pb::Manifest::Module* Manifest::image() const { return content_.has_image() ? &content_.image() : nullptr; }

std::vector<Hash256> Manifest::image_chunks() const { return image() == nullptr ? std::vector<Hash256>() : chunks_of(*image()); }

std::vector<Hash256> Manifest::all_chunks() const {
  std::set<Hash256> chunks;
  for (const Hash256& chunk : module_chunks()) chunks.insert(chunk);
  for (const Hash256& chunk : image_chunks()) chunks.insert(chunk);
  for (const wire::pb::InputEntry& entry : content_.config().inputs())
    for (const std::string& chunk : entry.chunks()) chunks.insert(wire::hash_of(chunk));
  return {chunks.begin(), chunks.end()};
}

}  // namespace gw::job
