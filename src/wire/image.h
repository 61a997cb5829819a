#pragma once
// The image of a suspended isolate: everything it is, for any engine to go on from. Byte by byte in docs/image-format.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/module_info.h"

namespace gw::wire {

inline constexpr std::size_t kPageBytes = 65536;         // a page of wasm memory, and of a file
inline constexpr std::uint32_t kMaxMemoryPages = 65536;  // wasm32: 4 GiB
inline constexpr std::uint32_t kFirstFilePage = kMaxMemoryPages;
inline constexpr std::uint32_t kMaxFilePages = 1u << 20;  // 64 GiB
inline constexpr std::size_t kMaxWasiStateBytes = 64u << 20;
inline constexpr std::size_t kMaxJobStateBytes = 16u << 20;
inline constexpr std::size_t kMaxModuleBytes = 256u << 20;
inline constexpr std::uint16_t kImageVersion = 3;

// fresh: instantiated, nothing has run. suspended: `_start` has been left by unwinding.
enum class Phase : std::uint8_t { fresh = 0, suspended = 1 };

// Where the bytes of a page are: not in this image but to be found by their hash, or here, plain or compressed.
enum class Storage : std::uint8_t { elsewhere = 0, raw = 1, zstd = 2 };

// A global variable; the value little-endian, the rest of the 16 bytes zero.
struct GlobalValue {
  ValueType type = ValueType::i32;
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const GlobalValue&) const = default;
};

struct ImagePage {
  std::uint32_t index = 0;
  Hash256 hash;  // of the 64 KiB, whatever their storage
  Storage storage = Storage::raw;
  ByteView stored;  // the bytes in the file; empty if elsewhere
};

// The content of an image. In one that was decoded:
//  - pages ascend by index; those of the memory lie inside memory_pages, those of files, from kFirstFilePage on, inside file_pages; a page
//    that is not listed is all zero
//  - raw pages have 64 KiB, compressed ones fewer
struct ImageContent {
  Hash256 module_hash;
  Phase phase = Phase::fresh;
  std::uint32_t memory_pages = 0;
  std::uint32_t file_pages = 0;  // of all files together; which page is whose is in wasi_state
  std::vector<GlobalValue> globals;
  Bytes wasi_state;               // encoded by isolate/wasi_state
  Bytes job_state;                // of the layers above, not looked at here; empty if the isolate stands alone
  std::optional<Hash256> parent;  // id of the image this one holds the changes to
  ByteView module_wasm;           // empty: the module is not included
  std::vector<ImagePage> pages;
};

// Where an encoded image is to be written. The bytes live as long as `owner`, which their readers share.
struct ImageMemory {
  std::span<std::uint8_t> bytes;
  std::shared_ptr<const void> owner;
};
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
  // The same to a place that the caller has made. REQUIRES: it has encoded_size() bytes.
  static Result<Image> encode(const ImageContent& content, ImageMemory memory);
  static std::size_t encoded_size(const ImageContent& content);
  static Result<Image> decode(Bytes file);
  // Without a copy: the bytes stay as they are as long as `owner` is there.
  static Result<Image> decode(ByteView file, std::shared_ptr<const void> owner);

  const ImageContent& content() const { return *content_; }
  ByteView encoded() const { return file_; }

  // Names the image: a hash over everything but page data, which it covers through the page hashes.
  const Hash256& id() const { return id_; }

  // Checks the hash of every page that is stored in this image.
  Status verify_pages() const;

 private:
  Image(ByteView file, std::shared_ptr<const void> owner, std::shared_ptr<const ImageContent> content, Hash256 id)
      : file_(file), owner_(std::move(owner)), content_(std::move(content)), id_(id) {}

  ByteView file_;
  std::shared_ptr<const void> owner_;            // of the bytes; shared by copies
  std::shared_ptr<const ImageContent> content_;  // shared by copies
  Hash256 id_;
};

// Writes the 64 KiB of a stored page to `out` and checks their hash. REQUIRES: not elsewhere; out has kPageBytes.
Status load_page(const ImagePage& page, std::span<std::uint8_t> out);

// The same for two pages, which takes less than twice as long.
struct PageLoad {
  const ImagePage& page;
  std::span<std::uint8_t> out;
};
Status load_both(const PageLoad& first, const PageLoad& second);

// A page in a shorter form, if compression makes it shorter.
std::optional<Bytes> compress_page(ByteView page);

}  // namespace gw::wire
