#pragma once
// The image of a suspended isolate: everything it is, for any engine to go on from. Byte by byte in docs/image-format.md.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/image/blob_pack.h"
#include "wire/image/image_tree.h"

namespace gw::wire {

inline constexpr std::size_t kMaxModuleBytes = 256u << 20;

struct ImagePage {
  std::uint32_t index = 0;
  Hash256 hash;  // of the page without the zeros at its end, whatever its storage
  Storage storage = Storage::raw;
  ByteView stored;  // the bytes in the file; empty if elsewhere
};

// The content of an image. In one that was decoded:
//  - pages ascend by index; those of the memory lie inside memory_pages, those of files, from kFirstFilePage on, inside file_pages
//  - a page that is neither listed nor in a node that is elsewhere is all zero
struct ImageContent {
  Hash256 module_hash;
  Phase phase = Phase::fresh;
  std::uint32_t memory_pages = 0;
  std::uint32_t file_pages = 0;  // of all files together; which page is whose is in wasi_state
  std::vector<GlobalValue> globals;
  Bytes wasi_state;      // encoded by isolate/wasi_state
  Bytes job_state;       // of the layers above, not looked at here; empty if the isolate stands alone
  ByteView module_wasm;  // empty: the module is not included
  std::vector<ImagePage> pages;
  std::vector<NodeName> nodes_elsewhere;  // ascending; their pages are not listed
};

// Where an encoded image is to be written. The bytes live as long as `owner`, which their readers share.
struct ImageMemory {
  std::span<std::uint8_t> bytes;
  std::shared_ptr<const void> owner;
};
using MakeImageMemory = std::function<Result<ImageMemory>(std::size_t bytes)>;
// Memory of this process, not cleared.
ImageMemory make_image_memory(std::size_t bytes);

// A well-formed image together with its encoded form; the views of its content point into that. A value, cheap to copy.
//
// Decoding checks everything but the content of pages: restoring a page checks its hash, and a caller that will not restore can ask
// verify_pages(). Damage is Kind::corrupt, a format of the future Kind::unsupported.
class Image {
 public:
  // Copies page data and module once. Fails if the content breaks a rule above or exceeds a limit.
  static Result<Image> encode(const ImageContent& content);
  // The same to a place that the caller makes.
  static Result<Image> encode(const ImageContent& content, const MakeImageMemory& make_memory);
  static Result<Image> decode(Bytes file);
  // Without a copy: the bytes stay as they are as long as `owner` is there.
  static Result<Image> decode(ByteView file, std::shared_ptr<const void> owner);

  const ImageContent& content() const { return parts_->content; }
  ByteView encoded() const { return file_; }

  // Names the image: the hash of its root, which covers all else through the hashes in it.
  const Hash256& id() const { return parts_->id; }
  ByteView root() const { return parts_->root; }
  // All of them, ascending.
  const std::vector<NodeName>& nodes() const { return parts_->nodes; }
  // The pieces of states, nodes and pages that are here.
  const BlobPack& pack() const { return parts_->pack; }

  // Checks the hash of every page that is stored in this image.
  Status verify_pages() const;

 private:
  struct Parts {
    ImageContent content;
    Hash256 id;
    ByteView root;
    std::vector<NodeName> nodes;
    BlobPack pack;
  };
  Image(ByteView file, std::shared_ptr<const Parts> parts) : file_(file), parts_(std::move(parts)) {}

  ByteView file_;
  std::shared_ptr<const Parts> parts_;  // shared by copies; the pack has the owner of the bytes
};

// Writes the 64 KiB of a stored page to `out` and checks their hash. REQUIRES: not elsewhere; out has kPageBytes.
Status load_page(const ImagePage& page, std::span<std::uint8_t> out);

// The same for two pages, which takes less than twice as long.
struct PageLoad {
  const ImagePage& page;
  std::span<std::uint8_t> out;
};
Status load_both(const PageLoad& first, const PageLoad& second);

// A page, without the zeros at its end, in a shorter form, if compression makes it shorter.
std::optional<Bytes> compress_page(ByteView page);

}  // namespace gw::wire
