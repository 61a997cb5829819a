#include "wire/image/image_tree.h"

#include <algorithm>

#include "base/check.h"

namespace gw::wire {
namespace {

constexpr std::size_t kBitmapBytes = kPagesPerNode / 8;
constexpr std::uint32_t kMemoryNodes = kMaxMemoryPages / kPagesPerNode;

Result<Hash256> read_tree_hash(ByteReader& reader) {
  GW_TRY(ByteView bytes, reader.bytes(sizeof(Hash256)));
  Hash256 hash;
  std::ranges::copy(bytes, hash.bytes.begin());
  return hash;
}

std::size_t value_bytes(ValueType type) {
  switch (type) {
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::v128:
      return 16;
    case ValueType::funcref:
    case ValueType::externref:
      return 0;
  }
  return 0;
}

// --- rules that hold for what is written and for what is read

Status check_global(const GlobalValue& global) {
  const std::size_t used = value_bytes(global.type);
  if (used == 0)
    return fail(Kind::corrupt, "the image is damaged: a global variable has the type {:#x}", static_cast<unsigned>(global.type));
  if (std::any_of(global.bytes.begin() + static_cast<std::ptrdiff_t>(used), global.bytes.end(), [](auto byte) { return byte != 0; }))
    return damaged_image("a global variable is larger than its type");
  return ok();
}

// How many pages the part of the tree has, that of the memory or that of the files, in which the node lies; and its first page there.
std::pair<std::uint32_t, std::uint32_t> range_of(const ImageRoot& root, std::uint32_t number) {
  if (number < kMemoryNodes) return {root.memory_pages, number * kPagesPerNode};
  return {root.file_pages, (number - kMemoryNodes) * kPagesPerNode};
}

std::size_t piece_count(std::size_t size) { return size <= kMaxStateInRoot ? 0 : (size + kStatePieceBytes - 1) / kStatePieceBytes; }

Status check_state(const StateName& state) {
  const bool here = state.size <= kMaxStateInRoot;
  if (state.bytes.size() != (here ? state.size : 0) || state.pieces.size() != piece_count(state.size))
    return damaged_image("the size of a state contradicts its pieces");
  return ok();
}

Status check(const ImageRoot& root) {
  if (root.phase != Phase::fresh && root.phase != Phase::suspended) return damaged_image("it is in an unknown phase");
  if (root.memory_pages > kMaxMemoryPages) return damaged_image("its memory is larger than 4 GiB");
  if (root.file_pages > kMaxFilePages) return damaged_image("its files are larger than 64 GiB");
  if (root.wasi_state.size > kMaxWasiStateBytes) return damaged_image("its WASI state is larger than 64 MiB");
  if (root.job_state.size > kMaxJobStateBytes) return damaged_image("its job state is larger than 16 MiB");
  if (root.globals.size() > kMaxModuleGlobals) return damaged_image("it has more than 4096 global variables");
  GW_TRY_VOID(check_state(root.wasi_state));
  GW_TRY_VOID(check_state(root.job_state));
  for (const GlobalValue& global : root.globals) GW_TRY_VOID(check_global(global));
  for (std::size_t i = 0; i < root.nodes.size(); ++i) {
    const std::uint32_t number = root.nodes[i].number;
    if (i > 0 && number <= root.nodes[i - 1].number) return damaged_image("its nodes are not in ascending order");
    if (number >= kMaxNodes) return damaged_image("a node lies outside the memory and the files");
    const auto [pages, first] = range_of(root, number);
    if (first >= pages) return damaged_image("a node lies outside the memory and the files");
  }
  return ok();
}

// --- states

void write_state(ByteWriter& writer, const StateName& state) {
  writer.bytes(state.bytes);
  for (const Hash256& piece : state.pieces) writer.bytes(piece.bytes);
}

Result<StateName> read_state(ByteReader& reader, std::uint32_t size) {
  StateName state{.size = size, .bytes = {}, .pieces = {}};
  if (size <= kMaxStateInRoot) {
    GW_TRY(const ByteView bytes, reader.bytes(size));
    state.bytes.assign(bytes.begin(), bytes.end());
    return state;
  }
  for (std::size_t i = 0; i < piece_count(size); ++i) {
    GW_TRY(const Hash256 piece, read_tree_hash(reader));
    state.pieces.push_back(piece);
  }
  return state;
}

Result<GlobalValue> read_global(ByteReader& reader) {
  GlobalValue global;
  GW_TRY(const std::uint8_t type, reader.u8());
  GW_TRY(const ByteView bytes, reader.bytes(global.bytes.size()));
  global.type = static_cast<ValueType>(type);
  std::ranges::copy(bytes, global.bytes.begin());
  return global;
}

}  // namespace

Error damaged_image(std::string_view what) { return fail(Kind::corrupt, "the image is damaged: {}; use another copy", what); }

// --- pages

ByteView without_end_zeros(ByteView page) {
  GW_ASSERT(page.size() == kPageBytes);
  static constexpr std::array<std::uint8_t, kPageUnit> kZeros{};
  std::size_t size = page.size();
  while (size > 0 && std::memcmp(page.data() + size - kPageUnit, kZeros.data(), kPageUnit) == 0) size -= kPageUnit;
  return page.first(size);
}

bool is_stored_form(ByteView page) {
  if (page.empty() || page.size() > kPageBytes || page.size() % kPageUnit != 0) return false;
  return std::ranges::any_of(page.last(kPageUnit), [](std::uint8_t byte) { return byte != 0; });
}

// --- nodes

Bytes encode_node(std::span<const PageName> pages) {
  GW_ASSERT(!pages.empty());
  Bytes bytes(kBitmapBytes);
  bytes.reserve(kBitmapBytes + pages.size() * sizeof(Hash256));
  for (const PageName& page : pages) {
    bytes[page.place / 8] |= static_cast<std::uint8_t>(1u << page.place % 8);
    bytes.insert(bytes.end(), page.hash.bytes.begin(), page.hash.bytes.end());
  }
  return bytes;
}

Result<std::vector<PageName>> decode_node(ByteView bytes) {
  if (bytes.size() <= kBitmapBytes) return damaged_image("a node has no pages");
  ByteReader hashes(bytes.subspan(kBitmapBytes));
  std::vector<PageName> pages;
  for (std::uint32_t place = 0; place < kPagesPerNode; ++place) {
    if ((bytes[place / 8] & 1u << place % 8) == 0) continue;
    GW_TRY(const Hash256 hash, read_tree_hash(hashes));
    pages.push_back({static_cast<std::uint8_t>(place), hash});
  }
  if (pages.empty() || !hashes.at_end()) return damaged_image("a node has not as many hashes as pages");
  return pages;
}

Status check_node(const ImageRoot& root, std::uint32_t number, std::span<const PageName> pages) {
  const auto [limit, first] = range_of(root, number);
  if (pages.empty() || first + pages.back().place >= limit) return damaged_image("a page lies outside the memory and the files");
  return ok();
}

// --- the root

std::vector<ByteView> state_pieces(ByteView state) {
  std::vector<ByteView> pieces;
  if (state.size() <= kMaxStateInRoot) return pieces;
  for (std::size_t at = 0; at < state.size(); at += kStatePieceBytes)
    pieces.push_back(state.subspan(at, std::min(kStatePieceBytes, state.size() - at)));
  return pieces;
}

StateName name_state(ByteView state) {
  StateName name{.size = static_cast<std::uint32_t>(state.size()), .bytes = {}, .pieces = {}};
  if (state.size() <= kMaxStateInRoot) name.bytes.assign(state.begin(), state.end());
  for (const ByteView piece : state_pieces(state)) name.pieces.push_back(sha256(piece));
  return name;
}

Result<Bytes> encode_root(const ImageRoot& root) {
  GW_TRY_VOID(check(root));
  ByteWriter writer;
  writer.u16(kImageVersion);
  writer.u8(kAbiVersion);
  writer.u8(static_cast<std::uint8_t>(root.phase));
  writer.bytes(root.module_hash.bytes);
  writer.u32(root.memory_pages);
  writer.u32(root.file_pages);
  writer.u32(root.wasi_state.size);
  writer.u32(root.job_state.size);
  writer.u32(static_cast<std::uint32_t>(root.globals.size()));
  writer.u32(static_cast<std::uint32_t>(root.nodes.size()));
  write_state(writer, root.wasi_state);
  write_state(writer, root.job_state);
  for (const GlobalValue& global : root.globals) {
    writer.u8(static_cast<std::uint8_t>(global.type));
    writer.bytes(global.bytes);
  }
  for (const NodeName& node : root.nodes) {
    writer.u32(node.number);
    writer.bytes(node.hash.bytes);
  }
  return writer.take();
}

Result<ImageRoot> decode_root(ByteView bytes) {
  if (bytes.size() > kMaxRootBytes) return damaged_image("its root is larger than the format allows");
  ByteReader reader(bytes);
  GW_TRY(const std::uint16_t version, reader.u16());
  if (version != kImageVersion)
    return fail(Kind::unsupported, "the image has format version {}, this program reads version {}; use the Godwit that wrote it", version,
                kImageVersion);
  GW_TRY(const std::uint8_t abi_version, reader.u8());
  if (abi_version != kAbiVersion)
    return fail(Kind::unsupported, "the image is of a module with ABI version {}, this program knows version {}", abi_version, kAbiVersion);
  ImageRoot root;
  GW_TRY(const std::uint8_t phase, reader.u8());
  root.phase = static_cast<Phase>(phase);
  GW_TRY(root.module_hash, read_tree_hash(reader));
  GW_TRY(root.memory_pages, reader.u32());
  GW_TRY(root.file_pages, reader.u32());
  GW_TRY(const std::uint32_t wasi_bytes, reader.u32());
  GW_TRY(const std::uint32_t job_bytes, reader.u32());
  GW_TRY(const std::uint32_t global_count, reader.u32());
  GW_TRY(const std::uint32_t node_count, reader.u32());
  if (wasi_bytes > kMaxWasiStateBytes || job_bytes > kMaxJobStateBytes || global_count > kMaxModuleGlobals || node_count > kMaxNodes)
    return damaged_image("one of its parts is larger than the format allows");
  GW_TRY(root.wasi_state, read_state(reader, wasi_bytes));
  GW_TRY(root.job_state, read_state(reader, job_bytes));
  for (std::uint32_t i = 0; i < global_count; ++i) {
    GW_TRY(const GlobalValue global, read_global(reader));
    root.globals.push_back(global);
  }
  for (std::uint32_t i = 0; i < node_count; ++i) {
    NodeName node;
    GW_TRY(node.number, reader.u32());
    GW_TRY(node.hash, read_tree_hash(reader));
    root.nodes.push_back(node);
  }
  if (!reader.at_end()) return damaged_image("its root has bytes that belong to nothing");
  GW_TRY_VOID(check(root));
  return root;
}

}  // namespace gw::wire
