#pragma once
// Images for tests: one page of memory, and the gate of a thread. Root, node and page are three blobs.

#include <string>

#include "job/effects/effect_gate.h"
#include "job/images/new_image.h"
#include "wire/image/image.h"

namespace gw::job::test {

// An image as a worker sends it, checked. The page is filled with `content`.
inline NewImage image_of(const EffectGate& gate, char content) {
  const Bytes page(wire::kPageUnit, static_cast<std::uint8_t>(content));
  wire::ImageContent image;
  image.module_hash = sha256(as_bytes("module"));
  image.phase = wire::Phase::suspended;
  image.memory_pages = 1;
  image.job_state = gate.save();
  image.pages.push_back({0, sha256(page), wire::Storage::raw, page});
  const wire::Image encoded = wire::Image::encode(image).value();
  const auto owner = std::make_shared<const Bytes>(encoded.encoded().begin(), encoded.encoded().end());
  return check_new_image(*owner, owner).value();
}

}  // namespace gw::job::test
