#include "job/image_manifest.h"

namespace gw::job {
namespace {

Blob make_blob(std::string bytes) {
  const Hash256 hash = sha256(as_bytes(bytes));
  return {hash, std::move(bytes)};
}

std::string stored_form(const wire::ImagePage& page) {
  std::string bytes(1, static_cast<char>(page.storage));
  bytes += as_text(page.stored);
  return bytes;
}

struct Parsed {
  wire::pb::ImageManifest parts;
  wire::Image image;
};

Result<Parsed> parse(const std::string& bytes) {
  wire::pb::ImageManifest parts;
  if (!parts.ParseFromString(bytes)) return fail(Kind::corrupt, "the parts of an image cannot be read");
  const ByteView metadata = as_bytes(parts.metadata());
  GW_TRY(wire::Image image, wire::Image::decode(Bytes(metadata.begin(), metadata.end())));
  if (static_cast<std::size_t>(parts.pages_size()) != image.content().pages.size())
    return fail(Kind::corrupt, "an image of {} pages has {} parts", image.content().pages.size(), parts.pages_size());
  for (const std::string& page : parts.pages())
    if (page.size() != sizeof(Hash256)) return fail(Kind::corrupt, "the parts of an image are not named by hashes");
  return Parsed{std::move(parts), std::move(image)};
}

Status read_gate(const wire::Image& image, SplitImage& split) {
  wire::pb::GateState gate;
  const Bytes& state = image.content().job_state;
  if (!gate.ParseFromArray(state.data(), static_cast<int>(state.size())) || gate.thread() == 0)
    return fail(Kind::corrupt, "an image has no readable state of its effect gate");
  split.determinants = gate.next_determinant();
  split.epoch = gate.epoch();
  split.input_pieces = gate.input_pieces();
  for (const wire::pb::Effect& effect : gate.outbox())
    if (effect.has_fork()) split.last_fork = effect.sequence();
  split.thread = ThreadId{gate.thread()};
  return ok();
}

}  // namespace

Result<SplitImage> split_image(Bytes encoded, const FindPage& find) {
  GW_TRY(const wire::Image image, wire::Image::decode(std::move(encoded)));
  SplitImage split;
  GW_TRY_VOID(read_gate(image, split));
  wire::ImageContent content = image.content();
  content.module_wasm = {};
  wire::pb::ImageManifest parts;
  for (wire::ImagePage& page : content.pages) {
    Hash256 blob;
    if (page.storage != wire::Storage::elsewhere) {
      split.fresh.push_back(make_blob(stored_form(page)));
      blob = split.fresh.back().hash;
    } else if (const auto found = find(page.hash)) {
      blob = *found;
    } else {
      return fail(Kind::corrupt, "an image of thread {} lacks page {}", split.thread.value(), page.index);
    }
    split.pages[page.hash] = blob;
    parts.add_pages(wire::bytes_of(blob));
    page.storage = wire::Storage::elsewhere;
    page.stored = {};
  }
  GW_TRY(const wire::Image metadata, wire::Image::encode(content));
  parts.set_metadata(std::string(as_text(metadata.encoded())));
  split.parts = make_blob(parts.SerializeAsString());
  if (split.parts.bytes.size() > wire::kMaxBlobBytes)
    return fail(Kind::overloaded, "the description of an image has {} bytes, the limit is {}", split.parts.bytes.size(),
                wire::kMaxBlobBytes);
  return split;
}

Result<std::vector<Hash256>> page_blobs(const std::string& bytes) {
  GW_TRY(const Parsed parsed, parse(bytes));
  std::vector<Hash256> blobs;
  for (const std::string& page : parsed.parts.pages()) blobs.push_back(wire::hash_of(page));
  return blobs;
}

Result<PageBlobs> pages_by_hash(const std::string& bytes) {
  GW_TRY(const Parsed parsed, parse(bytes));
  PageBlobs pages;
  int next = 0;
  for (const wire::ImagePage& page : parsed.image.content().pages) pages[page.hash] = wire::hash_of(parsed.parts.pages(next++));
  return pages;
}

Result<Bytes> join_image(const std::string& bytes, const std::vector<std::string>& blobs) {
  GW_TRY(const Parsed parsed, parse(bytes));
  wire::ImageContent content = parsed.image.content();
  if (blobs.size() != content.pages.size()) return fail(Kind::corrupt, "an image of {} pages from {}", content.pages.size(), blobs.size());
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    if (blobs[i].empty()) return fail(Kind::corrupt, "a page of an image is empty");
    content.pages[i].storage = static_cast<wire::Storage>(blobs[i].front());
    content.pages[i].stored = as_bytes(blobs[i]).subspan(1);
  }
  GW_TRY(const wire::Image image, wire::Image::encode(content));
  return Bytes(image.encoded().begin(), image.encoded().end());
}

}  // namespace gw::job
