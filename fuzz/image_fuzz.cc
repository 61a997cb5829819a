// The image loader: whatever comes in, it refuses it with a sentence, or what it understood encodes to the same bytes again.

#include <cstdint>
#include <cstdlib>

#include "isolate/wasi/wasi_state.h"
#include "wire/image.h"

namespace {

using gw::Bytes;
using gw::ByteView;

constexpr std::size_t kMetadataSizeOffset = 12, kIdOffset = 24, kIdEnd = 56;

// The id would stop nearly every mutation at the door: give it the right one, so that the checks behind it are reached.
Bytes with_right_id(Bytes file) {
  if (file.size() < kIdEnd) return file;
  auto metadata = gw::ByteReader(ByteView(file).subspan(kMetadataSizeOffset)).u32();
  if (*metadata < kIdEnd || *metadata > file.size()) return file;
  gw::Sha256 hash;
  hash.update(ByteView(file).first(kIdOffset));
  hash.update(ByteView(file).first(*metadata).subspan(kIdEnd));
  auto id = hash.finish();
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes file(data, data + size);
  decode(file);
  decode(with_right_id(std::move(file)));
  return 0;
}
