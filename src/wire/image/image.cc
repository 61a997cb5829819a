#include "wire/image/image.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "base/check.h"

namespace gw::wire {
namespace {

constexpr std::array<std::uint8_t, 8> kImageMagic = {'G', 'W', 'I', 'M', 'A', 'G', 'E', 0};
constexpr std::size_t kHeadBytes = 64;
constexpr int kZstdLevel = 1;

// The fields before the variable parts, in the order of the file.
struct Head {
  std::uint32_t root_bytes;
  std::uint64_t file_bytes;
  Hash256 id;
  std::uint32_t module_bytes;
};

// --- rules that hold for what is written and for what is read

Status check_page(const ImagePage& page) {
  switch (page.storage) {
    case Storage::elsewhere:
      return page.stored.empty() ? ok() : damaged_image("a page is both here and elsewhere");
    case Storage::raw:
      return is_stored_form(page.stored) ? ok() : damaged_image("a page is too long, or ends with zeros");
    case Storage::zstd:
      return !page.stored.empty() && page.stored.size() < kPageBytes ? ok()
                                                                     : damaged_image("a compressed page is not smaller than a plain one");
  }
  return damaged_image("a page has an unknown storage");
}

// --- writing

struct EncodedNode {
  NodeName name;
  Bytes bytes;
};

// The nodes of the pages that the content lists.
Result<std::vector<EncodedNode>> make_nodes(const ImageContent& content) {
  std::vector<EncodedNode> nodes;
  std::vector<PageName> pages;
  for (std::size_t i = 0; i < content.pages.size(); ++i) {
    const ImagePage& page = content.pages[i];
    if (i > 0 && page.index <= content.pages[i - 1].index) return damaged_image("its pages are not in ascending order");
    if (page.index >= kMaxMemoryPages + kMaxFilePages) return damaged_image("a page lies outside the memory and the files");
    GW_TRY_VOID(check_page(page));
    const std::uint32_t number = page.index / kPagesPerNode;
    pages.push_back({static_cast<std::uint8_t>(page.index % kPagesPerNode), page.hash});
    if (i + 1 < content.pages.size() && content.pages[i + 1].index / kPagesPerNode == number) continue;
    Bytes bytes = encode_node(pages);
    const Hash256 hash = sha256(bytes);
    nodes.push_back({{number, hash}, std::move(bytes)});
    pages.clear();
  }
  return nodes;
}

Result<ImageRoot> make_root(const ImageContent& content, const std::vector<EncodedNode>& nodes) {
  if (content.wasi_state.size() > kMaxWasiStateBytes) return damaged_image("its WASI state is larger than 64 MiB");
  if (content.job_state.size() > kMaxJobStateBytes) return damaged_image("its job state is larger than 16 MiB");
  ImageRoot root{.module_hash = content.module_hash,
                 .phase = content.phase,
                 .memory_pages = content.memory_pages,
                 .file_pages = content.file_pages,
                 .wasi_state = name_state(content.wasi_state),
                 .job_state = name_state(content.job_state),
                 .globals = content.globals,
                 .nodes = content.nodes_elsewhere};
  for (const EncodedNode& node : nodes) root.nodes.push_back(node.name);
  std::ranges::sort(root.nodes, {}, &NodeName::number);
  return root;
}

// Whether the pages that are listed lie where the root allows them.
Status check_pages(const ImageContent& content, const ImageRoot& root) {
  for (const ImagePage& page : content.pages) {
    const PageName name{static_cast<std::uint8_t>(page.index % kPagesPerNode), page.hash};
    GW_TRY_VOID(check_node(root, page.index / kPagesPerNode, std::span(&name, 1)));
  }
  return ok();
}

// Everything that is stored, each hash once: pieces of states, nodes, pages.
std::vector<StoredBlob> list_blobs(const ImageContent& content, const ImageRoot& root, const std::vector<EncodedNode>& nodes) {
  std::vector<StoredBlob> blobs;
  std::unordered_set<Hash256> listed;
  const auto add = [&](const StoredBlob& blob) {
    if (listed.insert(blob.hash).second) blobs.push_back(blob);
  };
  const auto add_state = [&](const StateName& name, ByteView state) {
    const std::vector<ByteView> pieces = state_pieces(state);
    for (std::size_t i = 0; i < pieces.size(); ++i) add({name.pieces[i], Storage::raw, pieces[i]});
  };
  add_state(root.wasi_state, content.wasi_state);
  add_state(root.job_state, content.job_state);
  for (const EncodedNode& node : nodes) add({node.name.hash, Storage::raw, node.bytes});
  for (const ImagePage& page : content.pages)
    if (page.storage != Storage::elsewhere) add({page.hash, page.storage, page.stored});
  return blobs;
}

Bytes write_head(const Head& head) {
  ByteWriter writer;
  writer.bytes(kImageMagic);
  writer.u16(kImageVersion);
  writer.u16(0);
  writer.u32(head.root_bytes);
  writer.u64(head.file_bytes);
  writer.bytes(head.id.bytes);
  writer.u32(head.module_bytes);
  writer.u32(0);
  return writer.take();
}

// --- reading

Result<Head> read_head(ByteView file) {
  ByteReader reader(file);
  auto magic = reader.bytes(kImageMagic.size());
  if (!magic || !std::ranges::equal(kImageMagic, *magic)) return fail(Kind::invalid, "this is not a Godwit image");
  GW_TRY(const std::uint16_t version, reader.u16());
  if (version != kImageVersion)
    return fail(Kind::unsupported, "the image has format version {}, this program reads version {}; use the Godwit that wrote it", version,
                kImageVersion);
  if (file.size() < kHeadBytes) return damaged_image("it ends inside its header");
  Head head;
  GW_TRY(const std::uint16_t reserved, reader.u16());
  GW_TRY(head.root_bytes, reader.u32());
  GW_TRY(head.file_bytes, reader.u64());
  GW_TRY(const ByteView id, reader.bytes(sizeof(Hash256)));
  std::ranges::copy(id, head.id.bytes.begin());
  GW_TRY(head.module_bytes, reader.u32());
  GW_TRY(const std::uint32_t more_reserved, reader.u32());
  if (reserved != 0 || more_reserved != 0) return damaged_image("a reserved field is not zero");
  if (head.file_bytes != file.size())
    return fail(Kind::corrupt, "the image is incomplete or has something added: it says it has {} bytes, the file has {}; use another copy",
                head.file_bytes, file.size());
  if (head.root_bytes > kMaxRootBytes || head.module_bytes > kMaxModuleBytes)
    return damaged_image("one of its parts is larger than the format allows");
  if (kHeadBytes + std::uint64_t{head.root_bytes} + head.module_bytes > file.size())
    return damaged_image("its sizes contradict each other");
  return head;
}

// Reads the tree below a root out of a pack, and counts what it finds, so that nothing is there that belongs to nothing.
class TreeReader {
 public:
  TreeReader(const ImageRoot& root, const BlobPack& pack) : root_(root), pack_(pack) {}

  Status read_into(ImageContent& content) {
    GW_TRY(content.wasi_state, state(root_.wasi_state));
    GW_TRY(content.job_state, state(root_.job_state));
    std::vector<std::pair<std::uint32_t, std::vector<PageName>>> nodes;
    for (const NodeName& node : root_.nodes) {
      const StoredBlob* blob = use(node.hash);
      if (blob == nullptr) {
        content.nodes_elsewhere.push_back(node);
        continue;
      }
      if (blob->storage != Storage::raw || sha256(blob->stored) != node.hash)
        return damaged_image("a node has another hash than it should");
      GW_TRY(std::vector<PageName> pages, decode_node(blob->stored));
      GW_TRY_VOID(check_node(root_, node.number, pages));
      nodes.emplace_back(node.number, std::move(pages));
    }
    for (const auto& [number, pages] : nodes)
      for (const PageName& page : pages) GW_TRY_VOID(add_page(number, page, content));
    if (used_.size() != pack_.blobs().size()) return damaged_image("it has parts that belong to nothing");
    return in_order_ ? ok() : damaged_image("its parts are not in the order of its tree");
  }

 private:
  const StoredBlob* use(const Hash256& hash) {
    const StoredBlob* blob = pack_.find(hash);
    if (blob == nullptr) return nullptr;
    const bool next = static_cast<std::size_t>(blob - pack_.blobs().data()) == used_.size();
    if (used_.insert(hash).second && !next) in_order_ = false;
    return blob;
  }

  Status add_page(std::uint32_t node, const PageName& name, ImageContent& content) {
    ImagePage page{.index = node * kPagesPerNode + name.place, .hash = name.hash, .storage = Storage::elsewhere, .stored = {}};
    if (const StoredBlob* blob = use(name.hash)) page.storage = blob->storage, page.stored = blob->stored;
    GW_TRY_VOID(check_page(page));
    content.pages.push_back(page);
    return ok();
  }

  Result<Bytes> state(const StateName& name) {
    Bytes bytes = name.bytes;
    bytes.reserve(name.size);
    for (const Hash256& hash : name.pieces) {
      const StoredBlob* blob = use(hash);
      if (blob == nullptr) return damaged_image("a part of its state is not there");
      if (blob->storage != Storage::raw || sha256(blob->stored) != hash) return damaged_image("a part of its state has another hash");
      bytes.insert(bytes.end(), blob->stored.begin(), blob->stored.end());
    }
    if (bytes.size() != name.size) return damaged_image("the size of a state contradicts its pieces");
    return bytes;
  }

  const ImageRoot& root_;
  const BlobPack& pack_;
  std::unordered_set<Hash256> used_;
  bool in_order_ = true;  // there is one encoding of an image, so that equal images are equal files
};

// --- pages

// The plain bytes, which are the first of `out`; the rest becomes zero.
Result<ByteView> unpack(const ImagePage& page, std::span<std::uint8_t> out) {
  GW_ASSERT(page.storage != Storage::elsewhere && out.size() == kPageBytes);
  std::size_t size = page.stored.size();
  if (page.storage == Storage::raw) {
    if (size > kPageBytes) return damaged_image("a page is too long");
    std::memcpy(out.data(), page.stored.data(), size);
  } else {
    size = ZSTD_decompress(out.data(), out.size(), page.stored.data(), page.stored.size());
    if (ZSTD_isError(size) != 0) return fail(Kind::corrupt, "page {} of the image does not decompress; use another copy", page.index);
  }
  std::memset(out.data() + size, 0, out.size() - size);
  return ByteView(out).first(size);
}

Status check_loaded(const ImagePage& page, ByteView plain, const Hash256& hash) {
  if (hash == page.hash && is_stored_form(plain)) return ok();
  return fail(Kind::corrupt, "page {} of the image has another hash than it should; use another copy", page.index);
}

}  // namespace

ImageMemory make_image_memory(std::size_t bytes) {
  std::shared_ptr<std::uint8_t[]> memory = std::make_shared_for_overwrite<std::uint8_t[]>(bytes);
  return {{memory.get(), bytes}, memory};
}

Result<Image> Image::encode(const ImageContent& content) {
  return encode(content, [](std::size_t bytes) -> Result<ImageMemory> { return make_image_memory(bytes); });
}

Result<Image> Image::encode(const ImageContent& content, const MakeImageMemory& make_memory) {
  if (content.module_wasm.size() > kMaxModuleBytes) return damaged_image("its module is larger than 256 MiB");
  GW_TRY(const std::vector<EncodedNode> nodes, make_nodes(content));
  GW_TRY(const ImageRoot root, make_root(content, nodes));
  GW_TRY(const Bytes root_bytes, encode_root(root));
  GW_TRY_VOID(check_pages(content, root));
  const std::vector<StoredBlob> blobs = list_blobs(content, root, nodes);
  const std::size_t pack_bytes = BlobPack::encoded_size(blobs);
  const std::size_t size = kHeadBytes + root_bytes.size() + content.module_wasm.size() + pack_bytes;
  GW_TRY(ImageMemory memory, make_memory(size));
  GW_ASSERT(memory.bytes.size() == size);

  auto parts = std::make_shared<Parts>();
  parts->id = sha256(root_bytes);
  const Bytes head = write_head({.root_bytes = static_cast<std::uint32_t>(root_bytes.size()),
                                 .file_bytes = size,
                                 .id = parts->id,
                                 .module_bytes = static_cast<std::uint32_t>(content.module_wasm.size())});
  std::ranges::copy(head, memory.bytes.begin());
  const auto place_of_root = memory.bytes.subspan(kHeadBytes, root_bytes.size());
  std::ranges::copy(root_bytes, place_of_root.begin());
  const auto place_of_module = memory.bytes.subspan(kHeadBytes + root_bytes.size(), content.module_wasm.size());
  std::ranges::copy(content.module_wasm, place_of_module.begin());
  const auto place_of_pack = memory.bytes.last(pack_bytes);
  BlobPack::encode(blobs, place_of_pack);

  GW_TRY(parts->pack, BlobPack::decode(place_of_pack, memory.owner));
  parts->content = content;
  parts->content.module_wasm = place_of_module;
  for (ImagePage& page : parts->content.pages)
    if (page.storage != Storage::elsewhere) page.stored = parts->pack.find(page.hash)->stored;
  parts->root = place_of_root;
  parts->nodes = root.nodes;
  return Image(memory.bytes, std::move(parts));
}

Result<Image> Image::decode(Bytes bytes) {
  auto file = std::make_shared<const Bytes>(std::move(bytes));
  return decode(*file, file);
}

Result<Image> Image::decode(ByteView file, std::shared_ptr<const void> owner) {
  GW_TRY(const Head head, read_head(file));
  auto parts = std::make_shared<Parts>();
  parts->root = file.subspan(kHeadBytes, head.root_bytes);
  parts->id = head.id;
  if (sha256(parts->root) != head.id) return damaged_image("its checksum does not match");
  GW_TRY(ImageRoot root, decode_root(parts->root));
  GW_TRY(parts->pack, BlobPack::decode(file.subspan(kHeadBytes + head.root_bytes + head.module_bytes), std::move(owner)));
  ImageContent& content = parts->content;
  GW_TRY_VOID(TreeReader(root, parts->pack).read_into(content));
  content.module_hash = root.module_hash;
  content.phase = root.phase;
  content.memory_pages = root.memory_pages;
  content.file_pages = root.file_pages;
  content.globals = std::move(root.globals);
  content.module_wasm = file.subspan(kHeadBytes + head.root_bytes, head.module_bytes);
  parts->nodes = std::move(root.nodes);
  if (!content.module_wasm.empty() && sha256(content.module_wasm) != content.module_hash)
    return damaged_image("the module in it has another hash");
  return Image(file, std::move(parts));
}

Status Image::verify_pages() const {
  Bytes buffer(kPageBytes);
  for (const ImagePage& page : content().pages) {
    if (page.storage != Storage::elsewhere) GW_TRY_VOID(load_page(page, buffer));
  }
  return ok();
}

Status load_page(const ImagePage& page, std::span<std::uint8_t> out) {
  GW_TRY(const ByteView plain, unpack(page, out));
  return check_loaded(page, plain, sha256(plain));
}

Status load_both(const PageLoad& first, const PageLoad& second) {
  GW_TRY(const ByteView first_plain, unpack(first.page, first.out));
  GW_TRY(const ByteView second_plain, unpack(second.page, second.out));
  const auto [of_first, of_second] = sha256_both(first_plain, second_plain);
  GW_TRY_VOID(check_loaded(first.page, first_plain, of_first));
  return check_loaded(second.page, second_plain, of_second);
}

std::optional<Bytes> compress_page(ByteView page) {
  Bytes out(page.size() - 1);  // larger would not be worth it
  std::size_t size = ZSTD_compress(out.data(), out.size(), page.data(), page.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) return std::nullopt;
  out.resize(size);
  out.shrink_to_fit();  // pages of a whole image are held until it is encoded
  return out;
}

}  // namespace gw::wire
