#include "faults/message_mutator.h"

#include <array>

namespace gw::sim {
namespace {

using Form = EncodedField::Form;

constexpr std::size_t kNumbersSeen = 256;
constexpr std::size_t kStringsSeen = 64;    // of one size
constexpr std::size_t kLongestString = 64;  // that is remembered: names, keys, hashes, signatures
constexpr std::size_t kTooLong = 5000;

constexpr std::array<std::uint64_t, 9> kEdges{
    0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x1'0000'0000, 1ull << 40, 0x8000'0000'0000'0000, ~std::uint64_t{0}};

}  // namespace

void MessageMutator::learn(const EncodedMessage& message) {
  for (const EncodedField& field : message) {
    if (field.is_message()) {
      learn(field.inner);
    } else if (field.form != Form::bytes) {
      numbers_.push_back(field.number);
      if (numbers_.size() > kNumbersSeen) numbers_.pop_front();
    } else if (!field.bytes.empty() && field.bytes.size() <= kLongestString) {
      std::deque<Bytes>& seen = strings_[field.bytes.size()];
      seen.push_back(field.bytes);
      if (seen.size() > kStringsSeen) seen.pop_front();
    }
  }
}

void MessageMutator::collect(EncodedMessage& message, std::vector<Site>& sites) {
  for (std::size_t i = 0; i < message.size(); ++i) {
    sites.push_back({&message, i});
    if (message[i].is_message()) collect(message[i].inner, sites);
  }
}

void MessageMutator::mutate(EncodedMessage& message) {
  std::vector<Site> sites;
  collect(message, sites);
  if (!sites.empty()) mutate(sites[rng_.below(sites.size())]);
}

void MessageMutator::mutate(const Site& site) {
  const auto at = site.owner->begin() + static_cast<std::ptrdiff_t>(site.index);
  const std::uint64_t draw = rng_.below(10);
  if (draw == 0) {
    site.owner->erase(at);
  } else if (draw == 1) {
    EncodedField twin = *at;
    site.owner->insert(at, std::move(twin));
  } else if (at->form != Form::bytes) {
    mutate_number(*at);
  } else {
    mutate_bytes(*at);
  }
}

bool MessageMutator::swap_number(EncodedField& field) {
  if (numbers_.empty() || rng_.below(3) != 0) return false;
  field.number = numbers_[rng_.below(numbers_.size())];
  return true;
}

void MessageMutator::mutate_number(EncodedField& field) {
  if (swap_number(field)) return;
  const std::uint64_t draw = rng_.below(kEdges.size() + 2);
  if (draw < kEdges.size()) {
    field.number = kEdges[draw];
  } else {
    field.number += draw == kEdges.size() ? 1 : ~std::uint64_t{0};
  }
}

bool MessageMutator::swap_bytes(EncodedField& field) {
  const auto seen = strings_.find(field.bytes.size());
  if (field.is_message() || seen == strings_.end() || rng_.below(2) != 0) return false;
  field.bytes = seen->second[rng_.below(seen->second.size())];
  return true;
}

// A message that is mutated as a whole becomes bytes.
void MessageMutator::mutate_bytes(EncodedField& field) {
  if (swap_bytes(field)) return;
  if (field.is_message()) field.bytes = write_message(field.inner);
  field.inner.clear();
  switch (rng_.below(5)) {
    case 0:
      return field.bytes.clear();
    case 1:
      return field.bytes.empty() ? field.bytes.push_back(0) : field.bytes.pop_back();
    case 2:
      return field.bytes.push_back(static_cast<std::uint8_t>(rng_.next()));
    case 3:
      field.bytes = random_bytes(kTooLong);
      return;
    default:
      field.bytes = random_bytes(field.bytes.size());
  }
}

Bytes MessageMutator::random_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng_.next());
  return bytes;
}

}  // namespace gw::sim
