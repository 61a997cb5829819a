#pragma once
// The moment at which an isolate forks.

#include <memory>

namespace gw::isolate {

// Everything a child begins with, taken by Isolate::fork() from its parent, which may then go on: Isolate::make() makes the child of it, on
// any pool thread. The memory is shared, page by page, until one of them writes to it. Move only; any thread.
class ForkPoint {
 public:
  ForkPoint(ForkPoint&&) noexcept;
  ForkPoint& operator=(ForkPoint&&) noexcept;
  ~ForkPoint();

 private:
  friend class Isolate;
  struct Content;
  explicit ForkPoint(std::unique_ptr<Content> content);

  std::unique_ptr<Content> content_;
};

}  // namespace gw::isolate
