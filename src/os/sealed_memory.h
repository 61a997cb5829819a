#pragma once
// Immutable bytes in memory that can be handed to another process.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "os/files/unique_fd.h"

namespace gw::os {

class SealedMemory;

// A memfd that is being filled: sealed when it is complete, without a copy. Move only. Any thread.
class UnsealedMemory {
 public:
  static Result<UnsealedMemory> make(const char* name, std::size_t bytes);

  UnsealedMemory(UnsealedMemory&& other) noexcept;
  UnsealedMemory& operator=(UnsealedMemory&& other) noexcept;
  ~UnsealedMemory();

  std::span<std::uint8_t> bytes() const { return {base_, size_}; }
  // Nothing that bytes() gave may be used any more.
  Result<SealedMemory> seal() &&;

 private:
  UnsealedMemory(UniqueFd fd, std::uint8_t* base, std::size_t size) : fd_(std::move(fd)), base_(base), size_(size) {}
  void unmap();

  UniqueFd fd_;
  std::uint8_t* base_ = nullptr;  // null if empty
  std::size_t size_ = 0;
};

// A memfd with all seals, mapped for reading. Because it is sealed, neither its content nor its size can change under a reader: what was
// checked stays checked, and no access beyond an end that moved can kill the process.
//
// A value; the view lives as long as the object. Any thread.
class SealedMemory {
 public:
  // A sealed copy of `content`. The name shows in /proc.
  static Result<SealedMemory> make(const char* name, ByteView content);
  // Seals a memfd of this process, made with MFD_ALLOW_SEALING. REQUIRES: no other process has it, and no mapping can write to it.
  static Result<SealedMemory> seal(UniqueFd fd);
  // Takes a descriptor from another process. Kind::invalid unless it is a memfd with all seals and at most `max_bytes` long.
  static Result<SealedMemory> open_sealed(UniqueFd fd, std::size_t max_bytes);

  SealedMemory(SealedMemory&& other) noexcept;
  SealedMemory& operator=(SealedMemory&& other) noexcept;
  ~SealedMemory();

  ByteView bytes() const { return {base_, size_}; }
  int fd() const { return fd_.get(); }
  // The memory stays mapped; share() is not possible any more.
  void close_descriptor() { fd_.reset(); }
  // A second descriptor of the same memory, to be sent away.
  Result<UniqueFd> share() const;

 private:
  SealedMemory(UniqueFd fd, const std::uint8_t* base, std::size_t size) : fd_(std::move(fd)), base_(base), size_(size) {}
  static Result<SealedMemory> map(UniqueFd fd, std::size_t size);

  UniqueFd fd_;
  const std::uint8_t* base_ = nullptr;  // null if empty
  std::size_t size_ = 0;
};

}  // namespace gw::os
