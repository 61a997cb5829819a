#include "os/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "os/files/io.h"

namespace gw::os {
namespace {

constexpr int kAllSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

}  // namespace

Result<UnsealedMemory> UnsealedMemory::make(const char* name, std::size_t bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return fail(Kind::internal, "cannot create a file of {} bytes in memory: {}", bytes, reason(errno));
  if (bytes == 0) return UnsealedMemory(std::move(fd), nullptr, 0);
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return fail(Kind::internal, "cannot map {} bytes of a file in memory: {}", bytes, reason(errno));
  return UnsealedMemory(std::move(fd), static_cast<std::uint8_t*>(base), bytes);
}

UnsealedMemory::UnsealedMemory(UnsealedMemory&& other) noexcept
    : fd_(std::move(other.fd_)), base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}

UnsealedMemory& UnsealedMemory::operator=(UnsealedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  return *this;
}

UnsealedMemory::~UnsealedMemory() { unmap(); }

void UnsealedMemory::unmap() {
  if (base_ != nullptr) ::munmap(std::exchange(base_, nullptr), size_);
}

Result<SealedMemory> UnsealedMemory::seal() && {
  unmap();  // memory with a writable mapping cannot be sealed
  return SealedMemory::seal(std::move(fd_));
}

Result<SealedMemory> SealedMemory::make(const char* name, ByteView content) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail(Kind::internal, "cannot create a file in memory: {}", reason(errno));
  if (Status written = write_fully(fd.get(), content); !written)
    return fail(Kind::internal, "cannot write {} bytes to a file in memory: {}", content.size(), written.error().detail);
  return seal(std::move(fd));
}

Result<SealedMemory> SealedMemory::seal(UniqueFd fd) {
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < 0 || ::fcntl(fd.get(), F_ADD_SEALS, kAllSeals) != 0)
    return fail(Kind::internal, "cannot seal a file in memory: {}", reason(errno));
  return map(std::move(fd), static_cast<std::size_t>(size));
}

Result<SealedMemory> SealedMemory::open_sealed(UniqueFd fd, std::size_t max_bytes) {
  // F_GET_SEALS fails on everything but files in memory, so no device and no file of a disk comes further than this.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0) return fail(Kind::invalid, "the descriptor received is not a memory file");
  if ((seals & kAllSeals) != kAllSeals) return fail(Kind::invalid, "the memory received is not sealed, so it could still change");
  // lseek(2) instead of fstat(2): the C library makes of fstat a call that takes a path, which a caged process may not make.
  const off_t end = ::lseek(fd.get(), 0, SEEK_END);
  if (end < 0) return fail(Kind::internal, "cannot look at the memory handed over: {}", reason(errno));
  const auto size = static_cast<std::uint64_t>(end);
  if (size > max_bytes) return fail(Kind::invalid, "the memory handed over has {} bytes, at most {} are allowed", size, max_bytes);
  return map(std::move(fd), static_cast<std::size_t>(size));
}

Result<SealedMemory> SealedMemory::map(UniqueFd fd, std::size_t size) {
  if (size == 0) return SealedMemory(std::move(fd), nullptr, 0);
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (base == MAP_FAILED) return fail(Kind::internal, "cannot map {} bytes of a file in memory: {}", size, reason(errno));
  return SealedMemory(std::move(fd), static_cast<const std::uint8_t*>(base), size);
}

SealedMemory::SealedMemory(SealedMemory&& other) noexcept
    : fd_(std::move(other.fd_)), base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SealedMemory& SealedMemory::operator=(SealedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  return *this;
}

SealedMemory::~SealedMemory() {
  if (base_ != nullptr) ::munmap(const_cast<std::uint8_t*>(base_), size_);
}

Result<UniqueFd> SealedMemory::share() const {
  UniqueFd copy(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return fail(Kind::internal, "cannot open another descriptor: {}", reason(errno));
  return copy;
}

}  // namespace gw::os
