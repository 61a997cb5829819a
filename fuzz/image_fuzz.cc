// The loaders of images and of their parts: whatever comes in, they refuse it with a sentence, or what they understood encodes to the same
// bytes again.

#include <cstdint>
#include <cstdlib>

#include "isolate/wasi/wasi_state.h"
#include "wire/image/image.h"

namespace {

using gw::Bytes;
using gw::ByteView;

constexpr std::size_t kRootSizeOffset = 12, kIdOffset = 24, kRootOffset = 64;

// The id would stop nearly every mutation at the door: give it the right one, so that the checks behind it are reached.
Bytes with_right_id(Bytes file) {
  if (file.size() < kRootOffset) return file;
  auto root = gw::ByteReader(ByteView(file).subspan(kRootSizeOffset)).u32();
  if (*root > file.size() - kRootOffset) return file;
  auto id = gw::sha256(ByteView(file).subspan(kRootOffset, *root));
  std::copy(id.bytes.begin(), id.bytes.end(), file.begin() + kIdOffset);
  return file;
}

void decode(const Bytes& file) {
  auto image = gw::wire::Image::decode(file);
  if (!image) {
    if (image.error().detail.empty()) std::abort();
    return;
  }
  (void)image->verify_pages();
  auto again = gw::wire::Image::encode(image->content());
  if (!again || !std::equal(file.begin(), file.end(), again->encoded().begin(), again->encoded().end())) std::abort();
  if (auto state = gw::isolate::decode_wasi_state(image->content().wasi_state)) {
    if (gw::isolate::encode(*state) != image->content().wasi_state) std::abort();
  }
}

// The parts that peers send each other.
void decode_parts(ByteView bytes) {
  if (auto root = gw::wire::decode_root(bytes)) {
    auto again = gw::wire::encode_root(*root);
    if (!again || !std::equal(bytes.begin(), bytes.end(), again->begin(), again->end())) std::abort();
  }
  if (auto node = gw::wire::decode_node(bytes)) {
    const Bytes again = gw::wire::encode_node(*node);
    if (!std::equal(bytes.begin(), bytes.end(), again.begin(), again.end())) std::abort();
  }
  if (auto pack = gw::wire::BlobPack::decode(bytes, nullptr)) {
    Bytes again(gw::wire::BlobPack::encoded_size(pack->blobs()));
    gw::wire::BlobPack::encode(pack->blobs(), again);
    if (!std::equal(bytes.begin(), bytes.end(), again.begin(), again.end())) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes file(data, data + size);
  decode_parts(file);
  decode(file);
  decode(with_right_id(std::move(file)));
  return 0;
}
