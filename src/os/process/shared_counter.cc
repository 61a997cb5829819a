#include "os/process/shared_counter.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "os/files/io.h"

namespace gw::os {

Result<SharedCounter> SharedCounter::make() {
  UniqueFd fd(::memfd_create("counter", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), sizeof(Numbers)) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail(Kind::internal, "cannot create shared memory: {}", reason(errno));
  return attach(std::move(fd));
}

Result<SharedCounter> SharedCounter::attach(UniqueFd fd) {
  void* base = ::mmap(nullptr, sizeof(Numbers), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return fail(Kind::internal, "cannot map shared memory: {}", reason(errno));
  return SharedCounter(std::move(fd), static_cast<Numbers*>(base));
}

SharedCounter::SharedCounter(SharedCounter&& other) noexcept
    : fd_(std::move(other.fd_)), numbers_(std::exchange(other.numbers_, nullptr)) {}

SharedCounter::~SharedCounter() {
  if (numbers_ != nullptr) ::munmap(numbers_, sizeof(Numbers));
}

}  // namespace gw::os
