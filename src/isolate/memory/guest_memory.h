#pragma once
// A guest's linear memory, seen from a host function.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/check.h"

namespace gw::isolate {

// A checked window; every address and length the guest gives is tested here and nowhere else. Valid during one host call: growing the
// memory makes it stale. wasm is little-endian, and so is every machine V8 10.2 runs on here.
class GuestMemory {
 public:
  GuestMemory(std::uint8_t* base, std::size_t size) : base_(base), size_(size) {}

  std::size_t size() const { return size_; }

  std::optional<std::span<std::uint8_t>> span(std::uint32_t address, std::uint32_t length) const {
    if (address > size_ || length > size_ - address) return std::nullopt;
    return std::span(base_ + address, length);
  }

  template <class T>
  std::optional<T> load(std::uint32_t address) const {
    auto bytes = span(address, sizeof(T));
    if (!bytes) return std::nullopt;
    T value;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }

  // REQUIRES: it lies inside, as the caller has found out with span().
  template <class T>
  T get(std::uint32_t address) const {
    auto value = load<T>(address);
    GW_ASSERT(value.has_value());
    return *value;
  }

  // False if it lies outside.
  template <class T>
  [[nodiscard]] bool store(std::uint32_t address, T value) const {
    auto bytes = span(address, sizeof(T));
    if (!bytes) return false;
    std::memcpy(bytes->data(), &value, sizeof value);
    return true;
  }

 private:
  std::uint8_t* base_;
  std::size_t size_;
};

}  // namespace gw::isolate
