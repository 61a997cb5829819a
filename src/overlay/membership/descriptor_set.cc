#include "overlay/membership/descriptor_set.h"

#include <cstring>

namespace gw::overlay {
namespace {

std::uint64_t head(const PeerId& id) {
  std::uint64_t word;
  std::memcpy(&word, id.hash.bytes.data(), sizeof word);
  return word;
}

}  // namespace

std::optional<std::size_t> DescriptorSet::position(const PeerId& id) const {
  const std::uint64_t wanted = head(id);
  for (std::size_t i = 0; i < heads_.size(); ++i)
    if (heads_[i] == wanted && entries_[i].id == id) return i;
  return std::nullopt;
}

const Descriptor* DescriptorSet::find(const PeerId& id) const {
  const auto index = position(id);
  return index ? &entries_[*index] : nullptr;
}

void DescriptorSet::add(const Descriptor& descriptor) {
  GW_DCHECK(!contains(descriptor.id));
  heads_.push_back(head(descriptor.id));
  entries_.push_back(descriptor);
}

bool DescriptorSet::renew(const Descriptor& descriptor) {
  const auto index = position(descriptor.id);
  if (!index || !newer(descriptor, entries_[*index])) return false;
  entries_[*index] = descriptor;
  return true;
}

bool DescriptorSet::remove(const PeerId& id) {
  const auto index = position(id);
  if (index) remove_at(*index);
  return index.has_value();
}

void DescriptorSet::remove_at(std::size_t index) {
  heads_[index] = heads_.back();
  heads_.pop_back();
  if (index + 1 != entries_.size()) entries_[index] = std::move(entries_.back());
  entries_.pop_back();
}

void DescriptorSet::grow_older(std::uint16_t limit) {
  for (std::size_t i = entries_.size(); i-- > 0;)
    if (++entries_[i].age > limit) remove_at(i);
}

}  // namespace gw::overlay
