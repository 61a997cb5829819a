// The ABI of WASI preview 1: numbers, and how a guest's memory is read and written.

export const Errno = Object.freeze({
  success: 0,
  again: 6,
  badf: 8,
  busy: 10,
  exist: 20,
  fault: 21,
  fbig: 22,
  inval: 28,
  io: 29,
  isdir: 31,
  loop: 32,
  mfile: 33,
  nametoolong: 37,
  noent: 44,
  nospc: 51,
  nosys: 52,
  notdir: 54,
  notempty: 55,
  notsock: 57,
  notsup: 58,
  overflow: 61,
  perm: 63,
  rofs: 69,
  spipe: 70,
  xdev: 75,
  notcapable: 76,
});

export const FileType = Object.freeze({ characterDevice: 2, directory: 3, regularFile: 4, symbolicLink: 7 });

const bit = (n) => 1n << BigInt(n);
export const Right = Object.freeze({
  read: bit(1),
  seek: bit(2),
  sync: bit(4),
  tell: bit(5),
  write: bit(6),
  advise: bit(7),
  allocate: bit(8),
  createDirectory: bit(9),
  createFile: bit(10),
  linkSource: bit(11),
  linkTarget: bit(12),
  open: bit(13),
  readdir: bit(14),
  readlink: bit(15),
  renameSource: bit(16),
  renameTarget: bit(17),
  pathFilestatGet: bit(18),
  pathSetSize: bit(19),
  pathSetTimes: bit(20),
  filestatGet: bit(21),
  setSize: bit(22),
  setTimes: bit(23),
  symlink: bit(24),
  removeDirectory: bit(25),
  unlink: bit(26),
  poll: bit(27),
  all: bit(30) - 1n,
});

export const kRightsOfDirectories = Right.all & ~(Right.seek | Right.tell | Right.write | Right.advise | Right.allocate | Right.setSize);
export const kAppendFlag = 1;
export const kAllFdFlags = 31;
export const kMaxOffset = 2n ** 63n - 1n;

// Thrown inside a call; its errno is what the guest gets.
export class Refusal extends Error {
  constructor(errno) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}

export function deny(errno) {
  throw new Refusal(errno);
}

const kMaxIovecs = 1024;

// The guest's memory during one call. Every address and length from the guest is tested here.
export class GuestMemory {
  #buffer;

  constructor(buffer) {
    this.#buffer = buffer;
  }

  bytes(address, length) {
    const start = address >>> 0;
    if (start + (length >>> 0) > this.#buffer.byteLength) deny(Errno.fault);
    return new Uint8Array(this.#buffer, start, length >>> 0);
  }

  view(address, length) {
    const bytes = this.bytes(address, length);
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  u32(address) {
    return this.view(address, 4).getUint32(0, true);
  }

  setU32(address, value) {
    this.view(address, 4).setUint32(0, value, true);
  }

  setU64(address, value) {
    this.view(address, 8).setBigUint64(0, value, true);
  }

  // The buffers of one read or write, whose addresses and lengths are at `list`, and how much they hold together.
  buffers(list, count) {
    if (count >>> 0 > kMaxIovecs) deny(Errno.inval);
    const parts = Array.from({ length: count >>> 0 }, (_, i) => {
      const entry = (list >>> 0) + 8 * i;
      return this.bytes(this.u32(entry), this.u32(entry + 4));
    });
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    if (size > 0x7fffffff) deny(Errno.inval);
    return { parts, size };
  }
}

// Calls `move(position, part)` for the bytes of the buffers from `first` to `last`.
export function eachPart(parts, first, last, move) {
  let begin = 0;
  for (const part of parts) {
    const from = Math.max(begin, first);
    const to = Math.min(begin + part.length, last);
    if (from < to) move(from, part.subarray(from - begin, to - begin));
    begin += part.length;
  }
}
