#include "job/authority/manifest.h"

#include <algorithm>
#include <set>

#include "job/placing/capacity.h"
#include "wire/image/image.h"
#include "wire/messages/limits.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kVersion = 4;
constexpr std::size_t kMaxAfter = 1024;
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

Status check_array(const wire::pb::Manifest& content) {
  const wire::pb::Manifest::TaskArray& array = content.array();
  if (array.count() == 0 || array.count() > wire::kMaxTasks)
    return fail(Kind::invalid, "the job has {} tasks: it may have 1 to {}", array.count(), wire::kMaxTasks);
  GW_TRY_VOID(require(content.config().outputs().empty(), "the output files of an array are those of its tasks"));
  GW_TRY_VOID(require(static_cast<std::size_t>(array.segments_size()) <= wire::kMaxRowSegments, "rows have at most 4096 segments"));
  GW_TRY_VOID(require(array.values().has_rows() == !array.segments().empty(), "rows are in segments"));
  GW_TRY_VOID(require(static_cast<std::size_t>(array.values().columns_size()) <= wire::kMaxColumns, "a row has at most 256 values"));
  std::uint64_t rows = 0;
  for (const wire::pb::Manifest::TaskArray::Segment& segment : array.segments()) {
    GW_TRY_VOID(require(segment.hash().size() == sizeof(Hash256) && segment.rows() > 0, "a segment has a hash and rows"));
    GW_TRY_VOID(require(segment.rows() <= wire::kMaxSegmentRows, "a segment has at most 16384 rows"));
    rows += segment.rows();
  }
  return require(array.segments().empty() || rows == array.count(), "each task of an array with rows has one");
}

std::vector<Hash256> chunks_of(const wire::pb::Manifest::Module& file) {
  std::vector<Hash256> chunks;
  for (const std::string& chunk : file.chunks()) chunks.push_back(wire::hash_of(chunk));
  return chunks;
}

// Ascending and apart, so that no task is named twice.
Status check_selection(const wire::pb::Manifest::TaskArray& array) {
  std::uint64_t behind = 0;
  for (const wire::pb::TaskRange& range : array.only()) {
    const bool fits = range.count() > 0 && range.first() >= behind && std::uint64_t{range.first()} + range.count() <= array.count();
    GW_TRY_VOID(require(fits, "the selected tasks are ranges of the array, in ascending order"));
    behind = std::uint64_t{range.first()} + range.count();
  }
  return ok();
}

// Where the job runs, and what becomes of it when a host is lost.
Status check_placement(const wire::pb::Manifest::Policy& policy) {
  if (const Status needs = job::check(policy.needs()); !needs)
    return fail(Kind::invalid, "the manifest of the job is invalid: {}", needs.error().detail);
  GW_TRY_VOID(require(wire::pb::Manifest::Policy::Placing_IsValid(policy.place()), "its placement is not known here; update godwit"));
  GW_TRY_VOID(require(policy.min_slots() <= policy.slots(), "a job cannot begin with more slots than it wants"));
  GW_TRY_VOID(require(wire::pb::Manifest::Policy::OnFailure_IsValid(policy.on_failure()),
                      "its policy for a lost host is not known here; update godwit"));
  return require(policy.job_time_ns() <= kMaxCheckpointInterval, "a job lasts at most 13 days");
}

Status check_content(const wire::pb::Manifest& content) {
  GW_TRY_VOID(require(content.version() == kVersion, "its version is not known here; update godwit"));
  GW_TRY_VOID(check_module(content.module()));
  GW_TRY_VOID(wire::check_config(content.config()));
  const bool one_task = !content.has_array() || content.array().count() == 1;
  GW_TRY_VOID(require(one_task || !content.standard_input(), "standard input is one task's: an array has none"));
  if (content.has_array()) GW_TRY_VOID(check_array(content));
  GW_TRY_VOID(check_selection(content.array()));
  GW_TRY_VOID(check_image(content));
  if (!content.name().empty()) GW_TRY_VOID(check_job_name(content.name()));
  const bool policy_of_tasks = content.policy().retries() > 0 || content.policy().stop_after_failures() > 0;
  GW_TRY_VOID(require(content.has_array() || !policy_of_tasks, "only the tasks of an array run again or stop the job when they fail"));
  GW_TRY_VOID(require(content.policy().retries() <= Manifest::kMaxRetries, "a task runs again at most 1000 times"));
  GW_TRY_VOID(require(content.policy().checkpoint_every_ns() <= kMaxCheckpointInterval, "checkpoints are at most 13 days apart"));
  GW_TRY_VOID(require(content.policy().promote_after_ns() <= kMaxCheckpointInterval, "a task becomes a thread within 13 days"));
  GW_TRY_VOID(require(content.policy().priority() <= wire::kMaxPriority, "a priority is 0 to 100"));
  GW_TRY_VOID(require(static_cast<std::size_t>(content.policy().after_size()) <= kMaxAfter, "a job waits for at most 1024 others"));
  const auto is_job = [](const std::string& job) { return job.size() == sizeof(Hash256); };
  GW_TRY_VOID(require(std::ranges::all_of(content.policy().after(), is_job), "the id of a job has 32 bytes"));
  GW_TRY_VOID(check_placement(content.policy()));
  return require(content.policy().slots() >= 1 && content.policy().slots() <= wire::kMaxJobSlots, "a job wants 1 to 65536 slots");
}

}  // namespace

Status check_job_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  const bool allowed = std::ranges::all_of(name, [&](char c) { return kAllowed.find(c) != std::string_view::npos; });
  if (name.empty() || name.size() > kLongest || !allowed)
    return fail(Kind::invalid, "'{}' is not a name for a job: use 1 to {} letters, digits, dots, dashes and underscores", name, kLongest);
  if (name == "last" || name.starts_with("last-"))
    return fail(Kind::invalid, "a job cannot be called '{}': 'last' and 'last-2' stand for the jobs submitted last", name);
  return ok();
}

Result<Manifest> Manifest::check(ByteView bytes) {
  GW_TRY_VOID(require(bytes.size() <= wire::kMaxManifestBytes, "it is longer than 1 MiB"));
  Manifest manifest;
  if (!manifest.content_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(Kind::invalid, "the manifest of a job cannot be read");
  GW_TRY_VOID(check_content(manifest.content_));
  const wire::pb::Manifest::TaskArray& array = manifest.content_.array();
  GW_TRY(TaskConfigs configs, TaskConfigs::make(manifest.content_.config(), array.count(), array.values()));
  manifest.configs_ = std::make_shared<const TaskConfigs>(std::move(configs));
  if (array.has_graph()) {
    GW_TRY_VOID(require(manifest.on_task_plane(), "the tasks of a graph are several, and short at first: a task becomes a thread later"));
    GW_TRY(TaskGraph graph, TaskGraph::make(array.graph(), array.count()));
    manifest.graph_ = std::make_shared<const TaskGraph>(std::move(graph));
  }
  std::uint32_t end = 0;
  for (const wire::pb::Manifest::TaskArray::Segment& segment : array.segments()) manifest.segment_ends_.push_back(end += segment.rows());
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

std::string Manifest::name() const { return content_.name().empty() ? program() : content_.name(); }

std::string Manifest::program() const {
  constexpr std::size_t kShown = 256;
  return content_.config().args().empty() ? "" : content_.config().args(0).substr(0, kShown);
}

Manifest::RowPosition Manifest::row_of(std::uint32_t task) const {
  const auto segment = std::ranges::upper_bound(segment_ends_, task);
  GW_ASSERT(segment != segment_ends_.end());
  const std::uint32_t first = segment == segment_ends_.begin() ? 0 : *std::prev(segment);
  return {static_cast<std::uint32_t>(segment - segment_ends_.begin()), task - first};
}

std::vector<TaskSpan> Manifest::selected() const {
  std::vector<TaskSpan> spans;
  for (const wire::pb::TaskRange& range : content_.array().only()) spans.push_back({range.first(), range.count()});
  if (spans.empty()) spans.push_back({0, tasks()});
  return spans;
}

std::uint32_t Manifest::selected_count() const {
  std::uint32_t count = 0;
  for (const TaskSpan& span : selected()) count += span.count;
  return count;
}

std::vector<Hash256> Manifest::module_chunks() const { return chunks_of(content_.module()); }

const wire::pb::Manifest::Module* Manifest::image() const { return content_.has_image() ? &content_.image() : nullptr; }

std::vector<Hash256> Manifest::image_chunks() const { return image() == nullptr ? std::vector<Hash256>() : chunks_of(*image()); }

std::vector<Hash256> Manifest::all_chunks() const {
  std::set<Hash256> chunks;
  for (const Hash256& chunk : module_chunks()) chunks.insert(chunk);
  for (const Hash256& chunk : image_chunks()) chunks.insert(chunk);
  for (const wire::pb::Manifest::TaskArray::Segment& segment : content_.array().segments()) chunks.insert(wire::hash_of(segment.hash()));
  for (const auto& [chunk, bytes] : input_chunks()) chunks.insert(chunk);
  return {chunks.begin(), chunks.end()};
}

std::map<Hash256, std::uint32_t> Manifest::input_chunks() const {
  std::map<Hash256, std::uint32_t> chunks;
  const auto add = [&](const wire::pb::InputEntry& entry) {
    std::uint64_t left = entry.size();
    for (const std::string& chunk : entry.chunks()) {
      const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, wire::kInputChunkBytes));
      left -= bytes;
      chunks.emplace(wire::hash_of(chunk), bytes);
    }
  };
  for (const wire::pb::InputEntry& entry : content_.config().inputs()) add(entry);
  if (content_.config().has_standard_input()) add(content_.config().standard_input());
  return chunks;
}

Result<std::vector<Hash256>> blobs_of_job(const Manifest& manifest, std::string_view row_inputs) {
  constexpr std::size_t kHashBytes = sizeof(Hash256);
  if (row_inputs.size() % kHashBytes != 0 || (!row_inputs.empty() && !manifest.has_rows()))
    return fail(Kind::invalid, "the list of the input files of its tasks is not one of hashes of 32 bytes, or the job has no rows");
  if (row_inputs.size() / kHashBytes > wire::kMaxRowInputs)
    return fail(Kind::invalid, "the input files of the tasks have {} pieces of 1 MiB: the limit is {}", row_inputs.size() / kHashBytes,
                wire::kMaxRowInputs);
  std::vector<Hash256> blobs = manifest.all_chunks();
  for (; !row_inputs.empty(); row_inputs.remove_prefix(kHashBytes))
    blobs.push_back(wire::hash_of(std::string(row_inputs.substr(0, kHashBytes))));
  std::ranges::sort(blobs);
  blobs.erase(std::ranges::unique(blobs).begin(), blobs.end());
  return blobs;
}

}  // namespace gw::job
