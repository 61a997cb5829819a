#include "job/images/new_image.h"

#include <algorithm>
#include <set>

#include "wire/worker.pb.h"

namespace gw::job {
namespace {

template <class Range, class Projection>
std::vector<Hash256> distinct(const Range& range, Projection projection) {
  std::set<Hash256> hashes;
  for (const auto& one : range) hashes.insert(std::invoke(projection, one));
  return {hashes.begin(), hashes.end()};
}

Result<wire::pb::GateState> gate_in(const wire::Image& image) {
  wire::pb::GateState gate;
  const Bytes& state = image.content().job_state;
  if (!gate.ParseFromArray(state.data(), static_cast<int>(state.size())) || gate.thread() == 0)
    return fail(Kind::corrupt, "an image has no readable state of its effect gate");
  return gate;
}

Status read_gate(const wire::Image& image, NewImage& parts) {
  GW_TRY(const wire::pb::GateState gate, gate_in(image));
  parts.determinants = gate.next_determinant();
  parts.epoch = gate.epoch();
  parts.input_pieces = gate.input_pieces();
  parts.mail = gate.mail();
  for (const wire::pb::GateState::StreamState& stream : gate.streams())
    for (const wire::pb::Effect& effect : stream.outbox())
      if (effect.has_spawn()) parts.last_spawn = effect.sequence();
  parts.thread = ThreadId{gate.thread()};
  return ok();
}

// Decoding has hashed root, nodes and pieces; pages are hashed here.
Status check_blobs(const wire::Image& image) {
  const std::vector<wire::StoredBlob>& blobs = image.pack().blobs();
  for (const wire::StoredBlob& blob : blobs)
    if (blob.storage != wire::Storage::raw) return fail(Kind::corrupt, "an image has parts that are not plain");
  std::size_t next = 0;
  for (; next + 1 < blobs.size(); next += 2)
    if (sha256_both(blobs[next].stored, blobs[next + 1].stored) != std::pair(blobs[next].hash, blobs[next + 1].hash))
      return fail(Kind::corrupt, "an image has parts that are not what their hashes say");
  if (next < blobs.size() && sha256(blobs[next].stored) != blobs[next].hash)
    return fail(Kind::corrupt, "an image has parts that are not what their hashes say");
  return ok();
}

RootChildren children_of(const wire::ImageRoot& root) {
  std::vector<Hash256> pieces = root.wasi_state.pieces;
  pieces.insert(pieces.end(), root.job_state.pieces.begin(), root.job_state.pieces.end());
  return {distinct(pieces, std::identity()), distinct(root.nodes, &wire::NodeName::hash)};
}

Result<Bytes> join_state(const wire::StateName& name, const ReadPart& read) {
  Bytes state = name.bytes;
  for (const Hash256& piece : name.pieces) {
    GW_TRY(const std::string bytes, read(piece));
    state.insert(state.end(), bytes.begin(), bytes.end());
  }
  return state;
}

}  // namespace

Result<wire::Image> join_nodes(const Hash256& id, const ReadPart& read) {
  GW_TRY(const std::string bytes, read(id));
  GW_TRY(wire::ImageRoot root, wire::decode_root(as_bytes(bytes)));
  wire::ImageContent content{.module_hash = root.module_hash,
                             .phase = root.phase,
                             .memory_pages = root.memory_pages,
                             .file_pages = root.file_pages,
                             .globals = std::move(root.globals)};
  GW_TRY(content.wasi_state, join_state(root.wasi_state, read));
  GW_TRY(content.job_state, join_state(root.job_state, read));
  for (const wire::NodeName& node : root.nodes) {
    GW_TRY(const std::string node_bytes, read(node.hash));
    GW_TRY(const std::vector<wire::PageName> pages, wire::decode_node(as_bytes(node_bytes)));
    for (const wire::PageName& page : pages)
      content.pages.push_back(
          {.index = node.number * wire::kPagesPerNode + page.place, .hash = page.hash, .storage = wire::Storage::elsewhere, .stored = {}});
  }
  GW_TRY(wire::Image image, wire::Image::encode(content));
  if (image.id() != id) return wire::damaged_image("its parts are not those its root names");
  return image;
}

Result<RootChildren> children_of_root(ByteView bytes) {
  GW_TRY(const wire::ImageRoot root, wire::decode_root(bytes));
  return children_of(root);
}

Result<std::vector<Hash256>> children_of_node(ByteView bytes) {
  GW_TRY(const std::vector<wire::PageName> pages, wire::decode_node(bytes));
  return distinct(pages, &wire::PageName::hash);
}

Result<NewImage> check_new_image(ByteView encoded, const std::shared_ptr<const void>& owner) {
  GW_TRY(const wire::Image image, wire::Image::decode(encoded, owner));
  GW_TRY_VOID(check_blobs(image));
  NewImage parts;
  GW_TRY_VOID(read_gate(image, parts));
  parts.encoded = SharedBytes(encoded, owner);
  parts.root = image.id();
  GW_TRY(RootChildren children, children_of_root(image.root()));
  parts.pieces = std::move(children.pieces);
  parts.nodes = std::move(children.nodes);
  parts.fresh.emplace(image.id(), SharedBytes(image.root(), owner));
  for (const wire::StoredBlob& blob : image.pack().blobs()) parts.fresh.emplace(blob.hash, SharedBytes(blob.stored, owner));
  for (const Hash256& node : parts.nodes) {
    const wire::StoredBlob* blob = image.pack().find(node);
    if (blob == nullptr) continue;
    GW_TRY(parts.fresh_nodes[node], children_of_node(blob->stored));
  }
  return parts;
}

Status check_gate(const wire::Image& image, const Attachment::Gate& expected) {
  GW_TRY(const wire::pb::GateState gate, gate_in(image));
  if (gate.thread() != expected.thread)
    return fail(Kind::corrupt, "its keeper gave an image of thread {} for thread {}", gate.thread(), expected.thread);
  if (gate.epoch() > expected.epoch)
    return fail(Kind::corrupt, "its keeper gave an image of epoch {} for epoch {}", gate.epoch(), expected.epoch);
  if (gate.next_determinant() != expected.determinants)
    return fail(Kind::corrupt, "its keeper says that {} determinants are in its image, and there are {}", expected.determinants,
                gate.next_determinant());
  for (const wire::pb::GateState::StreamState& state : gate.streams()) {
    GW_TRY(const wire::Stream stream, wire::read(state.stream()));
    const std::uint64_t first = state.outbox().empty() ? state.next_sequence() : state.outbox(0).sequence();
    const std::uint64_t stored = wire::mark_of(expected.stored, stream);
    if (first > stored + 1)
      return fail(
          Kind::corrupt,
          "effects {} to {} of its stream '{}' are lost: its home does not have them, and the image that its keeper gave comes after them",
          stored + 1, first - 1, wire::describe(stream));
  }
  return ok();
}

}  // namespace gw::job
