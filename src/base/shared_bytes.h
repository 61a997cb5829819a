#pragma once
// Immutable bytes with shared ownership.

#include <memory>
#include <string>

#include "base/bytes.h"

namespace gw {

// A value; copies share the bytes. Any thread.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::string bytes) {  // NOLINT: what was a string may become shared anywhere
    const auto owner = std::make_shared<const std::string>(std::move(bytes));
    view_ = as_bytes(*owner);
    owner_ = owner;
  }
  SharedBytes(const char* text) : SharedBytes(std::string(text)) {}  // NOLINT: as above
  // A part of something larger, which `owner` keeps.
  SharedBytes(ByteView view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  ByteView view() const { return view_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  std::size_t size() const { return view_.size(); }
  std::string str() const { return std::string(as_text(view_)); }

 private:
  ByteView view_;
  std::shared_ptr<const void> owner_;
};

}  // namespace gw
