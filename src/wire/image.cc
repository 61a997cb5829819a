#include "wire/image.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace gw::wire {
namespace {

constexpr std::array<std::uint8_t, 8> kImageMagic = {'G', 'W', 'I', 'M', 'A', 'G', 'E', 0};
constexpr std::size_t kIdOffset = 24;
constexpr std::size_t kIdEnd = kIdOffset + 32;
constexpr std::size_t kFixedBytes = 152;
constexpr std::size_t kGlobalBytes = 17;
constexpr std::size_t kPageEntryBytes = 44;
constexpr std::uint16_t kHasParent = 1, kHasModule = 2;
constexpr int kZstdLevel = 1;

// The fields before the variable parts, in the order of the file.
struct Head {
  std::uint16_t flags;
  std::uint32_t metadata_bytes;
  std::uint64_t file_bytes;
  Hash256 id;
  Hash256 module_hash;
  std::uint8_t abi_version, phase;
  std::uint32_t memory_pages, file_pages, job_bytes;
  Hash256 parent;
  std::uint32_t module_bytes, wasi_bytes, global_count, page_count;
};

Error damaged(std::string_view what) { return fail(Kind::corrupt, "the image is damaged: {}; use another copy", what); }

Hash256 metadata_hash(ByteView metadata) {
  Sha256 hash;
  hash.update(metadata.first(kIdOffset));
  hash.update(metadata.subspan(kIdEnd));
  return hash.finish();
}

Result<Hash256> read_hash(ByteReader& reader) {
  GW_TRY(ByteView bytes, reader.bytes(32));
  Hash256 hash;
  std::copy(bytes.begin(), bytes.end(), hash.bytes.begin());
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

// --- rules that hold for what is written and for what is read ---

Status check_global(const GlobalValue& global) {
  std::size_t used = value_bytes(global.type);
  if (used == 0)
    return fail(Kind::corrupt, "the image is damaged: a global variable has the type {:#x}", static_cast<unsigned>(global.type));
  if (std::any_of(global.bytes.begin() + static_cast<std::ptrdiff_t>(used), global.bytes.end(), [](auto byte) { return byte != 0; }))
    return damaged("a global variable is larger than its type");
  return ok();
}

Status check_page(const ImagePage& page, const ImageContent& content) {
  bool of_file = page.index >= kFirstFilePage;
  if (of_file && page.index - kFirstFilePage >= content.file_pages) return damaged("a page lies outside the files");
  if (!of_file && page.index >= content.memory_pages) return damaged("a page lies outside the memory");
  switch (page.storage) {
    case Storage::elsewhere:
      return page.stored.empty() ? ok() : damaged("a page is both here and elsewhere");
    case Storage::raw:
      return page.stored.size() == kPageBytes ? ok() : damaged("a page has not 65536 bytes");
    case Storage::zstd:
      return !page.stored.empty() && page.stored.size() < kPageBytes ? ok() : damaged("a compressed page is not smaller than a plain one");
  }
  return damaged("a page has an unknown storage");
}

Status check(const ImageContent& content) {
  if (content.phase != Phase::fresh && content.phase != Phase::suspended) return damaged("it is in an unknown phase");
  if (content.memory_pages > kMaxMemoryPages) return damaged("its memory is larger than 4 GiB");
  if (content.file_pages > kMaxFilePages) return damaged("its files are larger than 64 GiB");
  if (content.wasi_state.size() > kMaxWasiStateBytes) return damaged("its WASI state is larger than 64 MiB");
  if (content.job_state.size() > kMaxJobStateBytes) return damaged("its job state is larger than 16 MiB");
  if (content.module_wasm.size() > kMaxModuleBytes) return damaged("its module is larger than 256 MiB");
  if (content.globals.size() > kMaxModuleGlobals) return damaged("it has more than 4096 global variables");
  for (const GlobalValue& global : content.globals) GW_TRY_VOID(check_global(global));
  for (std::size_t i = 0; i < content.pages.size(); i++) {
    if (i > 0 && content.pages[i].index <= content.pages[i - 1].index) return damaged("its pages are not in ascending order");
    GW_TRY_VOID(check_page(content.pages[i], content));
  }
  return ok();
}

// --- writing ---

std::size_t metadata_size(const ImageContent& content) {
  return kFixedBytes + content.wasi_state.size() + content.job_state.size() + kGlobalBytes * content.globals.size() +
         kPageEntryBytes * content.pages.size();
}

std::size_t payload_size(const ImageContent& content) {
  std::size_t size = content.module_wasm.size();
  for (const ImagePage& page : content.pages) size += page.stored.size();
  return size;
}

void write_head(ByteWriter& writer, const ImageContent& content) {
  writer.bytes(kImageMagic);
  writer.u16(kImageVersion);
  writer.u16(static_cast<std::uint16_t>((content.parent ? kHasParent : 0) | (content.module_wasm.empty() ? 0 : kHasModule)));
  writer.u32(static_cast<std::uint32_t>(metadata_size(content)));
  writer.u64(Image::encoded_size(content));
  writer.bytes(Hash256{}.bytes);  // the id, known when all the rest is written
  writer.bytes(content.module_hash.bytes);
  writer.u8(kAbiVersion);
  writer.u8(static_cast<std::uint8_t>(content.phase));
  writer.u16(0);
  writer.u32(content.memory_pages);
  writer.u32(content.file_pages);
  writer.u32(static_cast<std::uint32_t>(content.job_state.size()));
  writer.bytes(content.parent.value_or(Hash256{}).bytes);
  writer.u32(static_cast<std::uint32_t>(content.module_wasm.size()));
  writer.u32(static_cast<std::uint32_t>(content.wasi_state.size()));
  writer.u32(static_cast<std::uint32_t>(content.globals.size()));
  writer.u32(static_cast<std::uint32_t>(content.pages.size()));
}

Bytes write_metadata(const ImageContent& content) {
  ByteWriter writer;
  write_head(writer, content);
  writer.bytes(content.wasi_state);
  writer.bytes(content.job_state);
  for (const GlobalValue& global : content.globals) {
    writer.u8(static_cast<std::uint8_t>(global.type));
    writer.bytes(global.bytes);
  }
  for (const ImagePage& page : content.pages) {
    writer.u32(page.index);
    writer.u32(static_cast<std::uint32_t>(page.storage));
    writer.u32(static_cast<std::uint32_t>(page.stored.size()));
    writer.bytes(page.hash.bytes);
  }
  return writer.take();
}

// --- reading ---

Result<Head> read_fixed_fields(ByteReader& reader) {
  Head head;
  GW_TRY(head.flags, reader.u16());
  GW_TRY(head.metadata_bytes, reader.u32());
  GW_TRY(head.file_bytes, reader.u64());
  GW_TRY(head.id, read_hash(reader));
  GW_TRY(head.module_hash, read_hash(reader));
  GW_TRY(head.abi_version, reader.u8());
  GW_TRY(head.phase, reader.u8());
  GW_TRY(std::uint16_t zero, reader.u16());
  GW_TRY(head.memory_pages, reader.u32());
  GW_TRY(head.file_pages, reader.u32());
  GW_TRY(head.job_bytes, reader.u32());
  GW_TRY(head.parent, read_hash(reader));
  GW_TRY(head.module_bytes, reader.u32());
  GW_TRY(head.wasi_bytes, reader.u32());
  GW_TRY(head.global_count, reader.u32());
  GW_TRY(head.page_count, reader.u32());
  if (zero != 0 || (head.flags & ~(kHasParent | kHasModule)) != 0) return damaged("a reserved field is not zero");
  return head;
}

// Before anything is allocated: the sizes fit the limits, each other and the file.
Status check_sizes(const Head& head, std::size_t file_size) {
  if (head.file_bytes != file_size)
    return fail(Kind::corrupt, "the image is incomplete or has something added: it says it has {} bytes, the file has {}; use another copy",
                head.file_bytes, file_size);
  if (head.wasi_bytes > kMaxWasiStateBytes || head.job_bytes > kMaxJobStateBytes || head.global_count > kMaxModuleGlobals ||
      head.page_count > kMaxMemoryPages + kMaxFilePages || head.module_bytes > kMaxModuleBytes)
    return damaged("one of its parts is larger than the format allows");
  std::uint64_t expected = kFixedBytes + std::uint64_t{head.wasi_bytes} + head.job_bytes + kGlobalBytes * std::uint64_t{head.global_count} +
                           kPageEntryBytes * std::uint64_t{head.page_count};
  if (head.metadata_bytes != expected || head.metadata_bytes > file_size) return damaged("its sizes contradict each other");
  return ok();
}

Result<Head> read_head(ByteView file) {
  ByteReader reader(file);
  auto magic = reader.bytes(kImageMagic.size());
  if (!magic || !std::equal(kImageMagic.begin(), kImageMagic.end(), magic->begin()))
    return fail(Kind::invalid, "this is not a Godwit image");
  GW_TRY(std::uint16_t version, reader.u16());
  if (version != kImageVersion)
    return fail(Kind::unsupported, "the image has format version {}, this program reads version {}; use the Godwit that wrote it", version,
                kImageVersion);
  if (file.size() < kFixedBytes) return damaged("it ends inside its header");
  GW_TRY(Head head, read_fixed_fields(reader));
  GW_TRY_VOID(check_sizes(head, file.size()));
  if (metadata_hash(file.first(head.metadata_bytes)) != head.id) return damaged("its checksum does not match");
  if (head.abi_version != kAbiVersion)
    return fail(Kind::unsupported, "the image is of a module with ABI version {}, this program knows version {}", head.abi_version,
                kAbiVersion);
  if (((head.flags & kHasModule) != 0) != (head.module_bytes != 0)) return damaged("its flags contradict its sizes");
  if ((head.flags & kHasParent) == 0 && head.parent != Hash256{}) return damaged("its flags contradict its parent");
  return head;
}

Result<GlobalValue> read_global(ByteReader& reader) {
  GlobalValue global;
  GW_TRY(std::uint8_t type, reader.u8());
  GW_TRY(ByteView bytes, reader.bytes(global.bytes.size()));
  global.type = static_cast<ValueType>(type);
  std::copy(bytes.begin(), bytes.end(), global.bytes.begin());
  return global;
}

// `payload` reads the stored bytes, which lie in the order of the entries.
Result<ImagePage> read_page(ByteReader& entries, ByteReader& payload) {
  ImagePage page;
  GW_TRY(page.index, entries.u32());
  GW_TRY(std::uint32_t storage, entries.u32());
  if (storage > static_cast<std::uint32_t>(Storage::zstd)) return damaged("a page has an unknown storage");
  page.storage = static_cast<Storage>(storage);
  GW_TRY(std::uint32_t stored_bytes, entries.u32());
  GW_TRY(page.hash, read_hash(entries));
  GW_TRY(page.stored, payload.bytes(stored_bytes));
  return page;
}

Result<ImageContent> read_content(const Head& head, ByteView file) {
  ByteReader metadata(file.first(head.metadata_bytes).subspan(kFixedBytes));
  ByteReader payload(file.subspan(head.metadata_bytes));
  ImageContent content;
  content.module_hash = head.module_hash;
  content.phase = static_cast<Phase>(head.phase);
  content.memory_pages = head.memory_pages;
  content.file_pages = head.file_pages;
  if ((head.flags & kHasParent) != 0) content.parent = head.parent;
  GW_TRY(ByteView wasi, metadata.bytes(head.wasi_bytes));
  content.wasi_state.assign(wasi.begin(), wasi.end());
  GW_TRY(ByteView job, metadata.bytes(head.job_bytes));
  content.job_state.assign(job.begin(), job.end());
  GW_TRY(content.module_wasm, payload.bytes(head.module_bytes));
  content.globals.reserve(head.global_count);
  for (std::uint32_t i = 0; i < head.global_count; i++) {
    GW_TRY(GlobalValue global, read_global(metadata));
    content.globals.push_back(global);
  }
  content.pages.reserve(head.page_count);
  for (std::uint32_t i = 0; i < head.page_count; i++) {
    GW_TRY(ImagePage page, read_page(metadata, payload));
    content.pages.push_back(page);
  }
  if (!payload.at_end()) return damaged("it has bytes that belong to nothing");
  return content;
}

Status unpack(const ImagePage& page, std::span<std::uint8_t> out) {
  GW_ASSERT(page.storage != Storage::elsewhere && out.size() == kPageBytes);
  if (page.storage == Storage::raw) {
    std::memcpy(out.data(), page.stored.data(), kPageBytes);
    return ok();
  }
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), page.stored.data(), page.stored.size());
  if (ZSTD_isError(size) != 0 || size != kPageBytes)
    return fail(Kind::corrupt, "page {} of the image does not decompress; use another copy", page.index);
  return ok();
}

Status check_hash(const ImagePage& page, const Hash256& hash) {
  if (hash == page.hash) return ok();
  return fail(Kind::corrupt, "page {} of the image has another hash than it should; use another copy", page.index);
}

}  // namespace

std::size_t Image::encoded_size(const ImageContent& content) { return metadata_size(content) + payload_size(content); }

ImageMemory make_image_memory(std::size_t bytes) {
  std::shared_ptr<std::uint8_t[]> memory = std::make_shared_for_overwrite<std::uint8_t[]>(bytes);
  return {{memory.get(), bytes}, memory};
}

Result<Image> Image::encode(const ImageContent& content) { return encode(content, make_image_memory(encoded_size(content))); }

Result<Image> Image::encode(const ImageContent& content, ImageMemory memory) {
  GW_ASSERT(memory.bytes.size() == encoded_size(content));
  GW_TRY_VOID(check(content));
  Bytes metadata = write_metadata(content);
  Hash256 id = metadata_hash(metadata);
  std::copy(id.bytes.begin(), id.bytes.end(), metadata.begin() + kIdOffset);

  std::size_t at = 0;
  auto append = [&](ByteView bytes) {
    std::span<std::uint8_t> place = memory.bytes.subspan(at, bytes.size());
    std::copy(bytes.begin(), bytes.end(), place.begin());
    at += bytes.size();
    return ByteView(place);
  };
  append(metadata);
  auto own = std::make_shared<ImageContent>(content);
  own->module_wasm = append(content.module_wasm);
  for (ImagePage& page : own->pages) page.stored = append(page.stored);
  return Image(memory.bytes, std::move(memory.owner), std::move(own), id);
}

Result<Image> Image::decode(Bytes bytes) {
  auto file = std::make_shared<const Bytes>(std::move(bytes));
  return decode(*file, file);
}

Result<Image> Image::decode(ByteView file, std::shared_ptr<const void> owner) {
  GW_TRY(Head head, read_head(file));
  GW_TRY(ImageContent content, read_content(head, file));
  GW_TRY_VOID(check(content));
  if (!content.module_wasm.empty() && sha256(content.module_wasm) != content.module_hash)
    return damaged("the module in it has another hash");
  return Image(file, std::move(owner), std::make_shared<const ImageContent>(std::move(content)), head.id);
}

Status Image::verify_pages() const {
  Bytes buffer(kPageBytes);
  for (const ImagePage& page : content_->pages) {
    if (page.storage != Storage::elsewhere) GW_TRY_VOID(load_page(page, buffer));
  }
  return ok();
}

Status load_page(const ImagePage& page, std::span<std::uint8_t> out) {
  GW_TRY_VOID(unpack(page, out));
  return check_hash(page, sha256(out));
}

Status load_both(const PageLoad& first, const PageLoad& second) {
  GW_TRY_VOID(unpack(first.page, first.out));
  GW_TRY_VOID(unpack(second.page, second.out));
  const auto [of_first, of_second] = sha256_both(first.out, second.out);
  GW_TRY_VOID(check_hash(first.page, of_first));
  return check_hash(second.page, of_second);
}

std::optional<Bytes> compress_page(ByteView page) {
  Bytes out(kPageBytes - 1);  // larger would not be worth it
  std::size_t size = ZSTD_compress(out.data(), out.size(), page.data(), page.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) return std::nullopt;
  out.resize(size);
  return out;
}

}  // namespace gw::wire
