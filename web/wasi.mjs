// WASI preview 1, first half: arguments, environment, standard streams, clocks, seeded random numbers, exit, waiting for time and input.
//
// Everything that must survive a move is in `state` (wasi_state.mjs). The world outside is the `host`:
//   write(fd, bytes)    takes all of it; fd is 1 or 2
//   read()              some bytes of input; null at its end; undefined if there are none yet
//   now(clock)          nanoseconds as BigInt; clock is "realtime" or "monotonic"
import { fillRandom } from "./guest_random.mjs";
import { ParkedCall } from "./wasi_state.mjs";

const Errno = Object.freeze({ success: 0, badf: 8, fault: 21, inval: 28, io: 29, nosys: 52, notsup: 58, spipe: 70 });
const kClocks = ["realtime", "monotonic"];
const kCharacterDevice = 2;
const kRightRead = 1 << 1;
const kRightWrite = 1 << 6;
const kSubscriptionBytes = 48;
const kEventBytes = 32;
const EventType = Object.freeze({ clock: 0, fdRead: 1, fdWrite: 2 });
const kAbsoluteTime = 1;
const kMaxSubscriptions = 1024;
const kMaxIovecs = 1024;

// Thrown by proc_exit; passes through the guest.
export class Exit {
  constructor(code) {
    this.code = code;
  }
}

// Thrown for an address outside the guest's memory; becomes an errno of the call.
class Fault extends Error {}

// The guest's memory during one call. Every address and length from the guest is tested here.
class GuestMemory {
  #buffer;

  constructor(buffer) {
    this.#buffer = buffer;
  }

  bytes(address, length) {
    const start = address >>> 0;
    if (start + (length >>> 0) > this.#buffer.byteLength) throw new Fault("outside the memory");
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
}

function readSubscription(memory, at) {
  const view = memory.view(at, kSubscriptionBytes);
  return {
    userdata: view.getBigUint64(0, true),
    type: view.getUint8(8),
    target: view.getUint32(16, true), // clock or descriptor
    timeout: view.getBigUint64(24, true),
    absolute: (view.getUint16(40, true) & kAbsoluteTime) !== 0,
  };
}

function atMost64(value) {
  return value < 2n ** 64n ? value : 2n ** 64n - 1n;
}

export class Wasi {
  #state;
  #host;
  #memory;
  #park;
  #hostOrigin = 0n; // host time at which the guest's monotonic clock showed ...
  #guestOrigin = 0n; // ... this; 0: it has never been read

  // memory(): the current buffer. park(): unwinds the guest out of the call; it calls again when it is resumed.
  constructor(state, host, { memory, park }) {
    this.#state = state;
    this.#host = host;
    this.#memory = () => new GuestMemory(memory());
    this.#park = park;
    if (state.monotonic > 0n) {
      this.#hostOrigin = host.now("monotonic");
      this.#guestOrigin = state.monotonic;
    }
  }

  // The state to put into an image.
  saved() {
    if (this.#guestOrigin > 0n) this.#state.monotonic = this.#monotonic();
    return this.#state;
  }

  keepInput(bytes) {
    const all = new Uint8Array(this.#state.input.length + bytes.length);
    all.set(this.#state.input);
    all.set(bytes, this.#state.input.length);
    this.#state.input = all;
  }

  // The functions of the import module. Names without an entry answer that they do not exist here.
  imports(names) {
    const table = {
      args_get: (list, text) => this.#putStrings(this.#state.args, list, text),
      args_sizes_get: (count, size) => this.#putSizes(this.#state.args, count, size),
      environ_get: (list, text) => this.#putStrings(this.#state.env, list, text),
      environ_sizes_get: (count, size) => this.#putSizes(this.#state.env, count, size),
      clock_res_get: (clock, out) => this.#clockRes(clock, out),
      clock_time_get: (clock, _precision, out) => this.#clockTime(clock, out),
      fd_close: (fd) => this.#close(fd),
      fd_fdstat_get: (fd, out) => this.#fdstat(fd, out),
      fd_filestat_get: (fd, out) => this.#filestat(fd, out),
      fd_prestat_get: () => Errno.badf, // no folder is open
      fd_read: (fd, list, count, out) => this.#read(fd, list, count, out),
      fd_seek: (fd) => (this.#isOpen(fd) ? Errno.spipe : Errno.badf),
      fd_write: (fd, list, count, out) => this.#write(fd, list, count, out),
      poll_oneoff: (subscriptions, events, count, out) => this.#pollOneoff(subscriptions, events, count, out),
      proc_exit: (code) => {
        throw new Exit(code >>> 0);
      },
      random_get: (address, length) => this.#random(address, length),
      sched_yield: () => Errno.success,
    };
    return Object.fromEntries(names.map((name) => [name, table[name] ? this.#guarded(table[name]) : () => Errno.nosys]));
  }

  // A checkpoint is complete once the guest calls it a second time; `wanted` says whether it should stop at all.
  checkpoint(wanted) {
    if (this.#state.parked === ParkedCall.checkpoint) {
      this.#complete();
    } else if (wanted) {
      this.#parkOn(ParkedCall.checkpoint);
    }
  }

  #guarded(call) {
    return (...args) => {
      try {
        return call(...args);
      } catch (error) {
        if (error instanceof Fault) return Errno.fault;
        throw error;
      }
    };
  }

  #parkOn(call) {
    this.#state.parked = call;
    this.#park();
    return Errno.success; // not looked at by a guest that unwinds
  }

  #complete() {
    this.#state.parked = ParkedCall.none;
    this.#state.deadline = 0n;
    this.#state.sleeper = 0;
  }

  #monotonic() {
    const host = this.#host.now("monotonic");
    if (this.#guestOrigin === 0n) {
      this.#hostOrigin = host;
      this.#guestOrigin = 1n; // not 0, which means never read
    }
    return this.#guestOrigin + (host > this.#hostOrigin ? host - this.#hostOrigin : 0n);
  }

  #isOpen(fd) {
    return fd >= 0 && fd < 3 && (this.#state.closed & (1 << fd)) === 0;
  }

  #putSizes(strings, countAddress, sizeAddress) {
    const memory = this.#memory();
    memory.setU32(countAddress, strings.length);
    memory.setU32(
      sizeAddress,
      strings.reduce((sum, text) => sum + text.length + 1, 0),
    );
    return Errno.success;
  }

  #putStrings(strings, list, text) {
    const memory = this.#memory();
    let at = text >>> 0;
    strings.forEach((string, i) => {
      memory.setU32((list >>> 0) + 4 * i, at);
      const place = memory.bytes(at, string.length + 1);
      place.set(string);
      place[string.length] = 0;
      at += string.length + 1;
    });
    return Errno.success;
  }

  #clockRes(clock, out) {
    if (kClocks[clock] === undefined) return Errno.inval;
    this.#memory().setU64(out, 1n);
    return Errno.success;
  }

  #now(clock) {
    return kClocks[clock] === "monotonic" ? this.#monotonic() : this.#host.now("realtime");
  }

  #clockTime(clock, out) {
    if (kClocks[clock] === undefined) return Errno.inval;
    this.#memory().setU64(out, this.#now(clock));
    return Errno.success;
  }

  #close(fd) {
    if (!this.#isOpen(fd)) return Errno.badf;
    this.#state.closed |= 1 << fd;
    return Errno.success;
  }

  #fdstat(fd, out) {
    if (!this.#isOpen(fd)) return Errno.badf;
    const stat = this.#memory().bytes(out, 24).fill(0);
    stat[0] = kCharacterDevice; // whatever the host has: how the guest buffers must not depend on where it runs
    stat[8] = fd === 0 ? kRightRead : kRightWrite;
    return Errno.success;
  }

  #filestat(fd, out) {
    if (!this.#isOpen(fd)) return Errno.badf;
    this.#memory().bytes(out, 64).fill(0)[16] = kCharacterDevice;
    return Errno.success;
  }

  #iovecs(memory, list, count) {
    if (count >>> 0 > kMaxIovecs) return null;
    return Array.from({ length: count }, (_, i) => {
      const entry = (list >>> 0) + 8 * i;
      return memory.bytes(memory.u32(entry), memory.u32(entry + 4));
    });
  }

  #write(fd, list, count, out) {
    if (!this.#isOpen(fd) || fd === 0) return Errno.badf;
    const memory = this.#memory();
    const parts = this.#iovecs(memory, list, count);
    if (parts === null) return Errno.inval;
    const written = parts.reduce((sum, part) => sum + part.length, 0);
    memory.setU32(out, written); // tested before anything leaves
    for (const part of parts) if (part.length > 0) this.#host.write(fd, part.slice());
    this.#state.outputBytes += BigInt(written);
    return Errno.success;
  }

  // "data" if there is input to read, "end", or "none" yet. Asks the host only when nothing is kept.
  #inputState() {
    if (this.#state.input.length > 0) return "data";
    if (this.#state.inputEnded) return "end";
    const more = this.#host.read();
    if (more === undefined) return "none";
    if (more === null) {
      this.#state.inputEnded = true;
      return "end";
    }
    this.#state.input = more;
    return "data";
  }

  #read(fd, list, count, out) {
    if (!this.#isOpen(fd) || fd !== 0) return Errno.badf;
    const memory = this.#memory();
    const parts = this.#iovecs(memory, list, count);
    if (parts === null) return Errno.inval;
    const room = parts.reduce((sum, part) => sum + part.length, 0);
    memory.setU32(out, 0);
    if (room > 0 && this.#inputState() === "none") return this.#parkOn(ParkedCall.input);
    this.#complete();
    let read = 0;
    for (const part of parts) {
      const piece = this.#state.input.subarray(0, part.length);
      part.set(piece);
      this.#state.input = this.#state.input.slice(piece.length);
      read += piece.length;
    }
    memory.setU32(out, read);
    return Errno.success;
  }

  #random(address, length) {
    const out = this.#memory().bytes(address, length);
    fillRandom(out, this.#state.randomSeed, this.#state.randomPosition);
    this.#state.randomPosition += BigInt(out.length);
    return Errno.success;
  }

  // On the guest's monotonic clock.
  #deadlineOf({ target, timeout, absolute }) {
    const now = this.#monotonic();
    if (!absolute) return atMost64(now + timeout);
    if (kClocks[target] === "monotonic") return timeout;
    const realtime = this.#host.now("realtime");
    return atMost64(now + (timeout > realtime ? timeout - realtime : 0n));
  }

  // The subscription whose time comes first. The choice is kept while the call is parked, because a relative time means something else
  // when the call is repeated.
  #chooseSleeper(clocks) {
    let first = null;
    clocks.forEach((one, i) => {
      const deadline = this.#deadlineOf(one);
      if (first !== null && deadline >= first) return;
      first = this.#state.deadline = deadline;
      this.#state.sleeper = i;
    });
  }

  // The event of a stream that is ready or can never be, else null.
  #streamEvent(one) {
    const reads = one.type === EventType.fdRead;
    if (!this.#isOpen(one.target) || reads !== (one.target === 0)) return { ...one, errno: Errno.badf };
    if (reads && this.#inputState() === "none") return null;
    return { ...one, errno: Errno.success };
  }

  #pollOneoff(subscriptions, events, count, out) {
    if (count < 1 || count > kMaxSubscriptions) return Errno.inval;
    const memory = this.#memory();
    memory.view(out, 4);
    memory.bytes(events, count * kEventBytes);
    const list = Array.from({ length: count }, (_, i) => readSubscription(memory, (subscriptions >>> 0) + kSubscriptionBytes * i));
    if (list.some((one) => one.type > EventType.fdWrite)) return Errno.inval;
    const clocks = list.filter((one) => one.type === EventType.clock);
    if (clocks.some((one) => kClocks[one.target] === undefined)) return Errno.notsup;

    const ready = list.filter((one) => one.type !== EventType.clock).map((one) => this.#streamEvent(one));
    const due = ready.filter((event) => event !== null);
    if (due.length === 0) {
      if (clocks.length === 0) return this.#parkOn(ParkedCall.input);
      if (this.#state.parked !== ParkedCall.sleep) this.#chooseSleeper(clocks);
      const sleeper = clocks[this.#state.sleeper];
      if (sleeper === undefined) return Errno.inval; // only an image made by hand gets here
      if (this.#monotonic() < this.#state.deadline) return this.#parkOn(ParkedCall.sleep);
      due.push({ ...sleeper, errno: Errno.success });
    }
    this.#complete();
    due.forEach((one, i) => this.#putEvent(memory, (events >>> 0) + kEventBytes * i, one));
    memory.setU32(out, due.length);
    return Errno.success;
  }

  #putEvent(memory, at, one) {
    const bytes = memory.bytes(at, kEventBytes).fill(0);
    const view = new DataView(bytes.buffer, bytes.byteOffset, kEventBytes);
    view.setBigUint64(0, one.userdata, true);
    view.setUint16(8, one.errno, true);
    view.setUint8(10, one.type);
    if (one.type === EventType.fdRead) view.setBigUint64(16, BigInt(this.#state.input.length), true);
  }
}
