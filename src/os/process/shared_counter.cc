#include "os/process/shared_counter.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "os/files/io.h"

namespace gw::os {
namespace {

constexpr std::size_t kBytes = 4096;

}  // namespace

Result<SharedCounter> SharedCounter::make() {
  UniqueFd fd(::memfd_create("counter", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), kBytes) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail(Kind::internal, "cannot create shared memory: {}", reason(errno));
  return attach(std::move(fd));
}

Result<SharedCounter> SharedCounter::attach(UniqueFd fd) {
  void* base = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return fail(Kind::internal, "cannot map shared memory: {}", reason(errno));
  return SharedCounter(std::move(fd), static_cast<Counter*>(base));
}

SharedCounter::SharedCounter(SharedCounter&& other) noexcept
    : fd_(std::move(other.fd_)), counter_(std::exchange(other.counter_, nullptr)) {}

SharedCounter::~SharedCounter() {
  if (counter_ != nullptr) ::munmap(counter_, kBytes);
}

}  // namespace gw::os
