#pragma once
// The answers a guest gets to its calls.

#include <cstdint>
#include <tl/expected.hpp>

namespace gw::isolate {

// The numbers WASI gives them.
enum class Errno : std::uint16_t {
  success = 0,
  again = 6,
  badf = 8,
  busy = 10,
  exist = 20,
  fault = 21,
  fbig = 22,
  inval = 28,
  io = 29,
  isdir = 31,
  loop = 32,
  mfile = 33,
  nametoolong = 37,
  nobufs = 42,
  noent = 44,
  nospc = 51,
  nosys = 52,
  notdir = 54,
  notempty = 55,
  notsock = 57,
  notsup = 58,
  overflow = 61,
  perm = 63,
  rofs = 69,
  spipe = 70,
  timedout = 73,
  xdev = 75,
  notcapable = 76,
};

// The value a guest asked for, or its errno. A Result would be wrong here: for the host no operation has failed.
template <class T>
using OrErrno = tl::expected<T, Errno>;

inline tl::unexpected<Errno> refuse(Errno code) { return tl::unexpected<Errno>(code); }

}  // namespace gw::isolate
