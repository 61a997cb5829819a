#pragma once
// The parts an image consists of, each named by the SHA-256 of its bytes. Byte by byte in docs/image-format.md, why in
// docs/design/009-image-trees.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/wasm/module_info.h"

namespace gw::wire {

inline constexpr std::size_t kPageBytes = 65536;  // a page of wasm memory, and of a file
inline constexpr std::size_t kPageUnit = 64;      // zeros at the end of a page are left out in units of this
inline constexpr std::uint32_t kPagesPerNode = 256;
inline constexpr std::uint32_t kMaxMemoryPages = 65536;  // wasm32: 4 GiB
inline constexpr std::uint32_t kFirstFilePage = kMaxMemoryPages;
inline constexpr std::uint32_t kMaxFilePages = 1u << 20;  // 64 GiB
inline constexpr std::uint32_t kMaxNodes = (kMaxMemoryPages + kMaxFilePages) / kPagesPerNode;
inline constexpr std::size_t kMaxNodeBytes = kPagesPerNode / 8 + kPagesPerNode * sizeof(Hash256);
inline constexpr std::size_t kMaxWasiStateBytes = 64u << 20;
inline constexpr std::size_t kMaxJobStateBytes = 16u << 20;
inline constexpr std::size_t kMaxStateInRoot = 32u << 10;  // a longer one is cut into pieces
inline constexpr std::size_t kStatePieceBytes = 64u << 10;
inline constexpr std::size_t kMaxRootBytes = 512u << 10;
inline constexpr std::uint16_t kImageVersion = 4;

// fresh: instantiated, nothing has run. suspended: `_start` has been left by unwinding.
enum class Phase : std::uint8_t { fresh = 0, suspended = 1 };

// A global variable; the value little-endian, the rest of the 16 bytes zero.
struct GlobalValue {
  ValueType type = ValueType::i32;
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const GlobalValue&) const = default;
};

// The page as it is named and stored: without the zeros at its end. Empty: it is all zero, and in no image. REQUIRES: kPageBytes.
ByteView without_end_zeros(ByteView page);
// Whether these bytes are a page in that form.
bool is_stored_form(ByteView page);

// A page, by its place in its node.
struct PageName {
  std::uint8_t place = 0;
  Hash256 hash;
  bool operator==(const PageName&) const = default;
};

// The names of the pages [256 * number, 256 * number + 255] that are not zero; at least one, with ascending places.
Bytes encode_node(std::span<const PageName> pages);
// Kind::corrupt if these bytes are no node.
Result<std::vector<PageName>> decode_node(ByteView bytes);

struct NodeName {
  std::uint32_t number = 0;
  Hash256 hash;
  bool operator==(const NodeName&) const = default;
};

// State of the layers above: in the root if it is short, else in pieces beside it.
struct StateName {
  std::uint32_t size = 0;
  Bytes bytes;                  // if size <= kMaxStateInRoot
  std::vector<Hash256> pieces;  // else: of kStatePieceBytes each, the last one shorter
  bool operator==(const StateName&) const = default;
};
StateName name_state(ByteView state);
// The pieces of a state that is not in its root.
std::vector<ByteView> state_pieces(ByteView state);

// The top of the tree. Its hash names the image.
struct ImageRoot {
  Hash256 module_hash;
  Phase phase = Phase::fresh;
  std::uint32_t memory_pages = 0;
  std::uint32_t file_pages = 0;  // of all files together; which page is whose is in the WASI state
  StateName wasi_state;
  StateName job_state;
  std::vector<GlobalValue> globals;
  std::vector<NodeName> nodes;  // ascending; each has a page inside the memory or the files
};

// Fails if the root breaks a rule above or exceeds a limit.
Result<Bytes> encode_root(const ImageRoot& root);
// Kind::corrupt, or Kind::unsupported for a version or ABI this program does not know.
Result<ImageRoot> decode_root(ByteView bytes);
// Whether all pages of a node lie inside the memory or the files.
Status check_node(const ImageRoot& root, std::uint32_t number, std::span<const PageName> pages);

// "the image is damaged: ...; use another copy"
Error damaged_image(std::string_view what);

}  // namespace gw::wire
