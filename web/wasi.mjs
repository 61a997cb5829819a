// WASI preview 1: arguments, environment, standard streams, clocks, seeded random numbers, exit, waiting; files are in wasi_files.mjs.
//
// Everything that must survive a move is in `state` (wasi_state.mjs). The world outside is the `host`:
//   write(fd, bytes)    takes all of it; fd is 1 or 2
//   read()              some bytes of input; null at its end; undefined if there are none yet
//   now(clock)          nanoseconds as BigInt; clock is "realtime" or "monotonic"
import { ChunkStore } from "./chunk_store.mjs";
import { sizeOf } from "./file_tree.mjs";
import { Stream } from "./file_tree_codec.mjs";
import { fillRandom } from "./guest_random.mjs";
import { eachPart, Errno, GuestMemory, Refusal, Right } from "./wasi_abi.mjs";
import { WasiFiles } from "./wasi_files.mjs";
import { ParkedCall } from "./wasi_state.mjs";

// By number. CPU time of the process and of the thread is the time since the start, since it must mean the same after a move.
const kClocks = ["realtime", "monotonic", "monotonic", "monotonic"];
const kSleepClocks = 2;
const kSubscriptionBytes = 48;
const kEventBytes = 32;
const EventType = Object.freeze({ clock: 0, fdRead: 1, fdWrite: 2 });
const kAbsoluteTime = 1;
const kMaxSubscriptions = 1024;
const kMaxStreamWrite = 65536;

// Thrown by proc_exit; passes through the guest.
export class Exit {
  constructor(code) {
    this.code = code;
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
  #files;
  chunks = new ChunkStore();
  #hostOrigin = 0n; // host time at which the guest's monotonic clock showed ...
  #guestOrigin = 0n; // ... this; 0: it has never been read

  // memory(): the current buffer. park(): unwinds the guest out of the call; it calls again when it is resumed.
  constructor(state, host, { memory, park }) {
    this.#state = state;
    this.#host = host;
    this.#memory = () => new GuestMemory(memory());
    this.#park = park;
    this.#files = new WasiFiles(state, {
      memory: this.#memory,
      realtime: () => this.#now(0),
      park: (call) => this.#parkOn(call),
      chunks: this.chunks,
    });
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
    const notSocket = (fd) => (this.#state.descriptors.has(fd >>> 0) ? Errno.notsock : Errno.badf);
    const table = {
      ...this.#files.imports(),
      args_get: (list, text) => this.#putStrings(this.#state.args, list, text),
      args_sizes_get: (count, size) => this.#putSizes(this.#state.args, count, size),
      environ_get: (list, text) => this.#putStrings(this.#state.env, list, text),
      environ_sizes_get: (count, size) => this.#putSizes(this.#state.env, count, size),
      clock_res_get: (clock, out) => this.#clockRes(clock, out),
      clock_time_get: (clock, _precision, out) => this.#clockTime(clock, out),
      fd_read: (fd, list, count, out) => this.#read(fd, list, count, out),
      fd_write: (fd, list, count, out) => this.#write(fd, list, count, out),
      poll_oneoff: (subscriptions, events, count, out) => this.#pollOneoff(subscriptions, events, count, out),
      proc_exit: (code) => {
        throw new Exit(code >>> 0);
      },
      random_get: (address, length) => this.#random(address, length),
      sched_yield: () => Errno.success,
      sock_accept: notSocket,
      sock_recv: notSocket,
      sock_send: notSocket,
      sock_shutdown: notSocket,
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

  // Godwit's own calls that need a job around the program (docs/guest-abi.md). There is no job here: no further threads, no receiver of
  // partial results, no tasks. A fork that was carried out before the program came here returns its result.
  threadCalls() {
    const unavailable = () => Errno.notsup;
    return {
      fork: this.#guarded((child) => this.#fork(child)),
      mark_throw: () => {},
      receive: unavailable,
      report: unavailable,
      send: unavailable,
      task_argument: unavailable,
      task_next: unavailable,
      task_result: unavailable,
      thread_id: unavailable,
      watch: unavailable,
    };
  }

  #fork(child) {
    const { parked, deadline } = this.#state;
    if (parked === ParkedCall.forkedParent || parked === ParkedCall.forkedChild) {
      this.#memory().setU64(child, deadline);
      this.#complete();
      return Errno.success;
    }
    this.#complete();
    return Errno.again;
  }

  #guarded(call) {
    return (...args) => {
      try {
        return call(...args);
      } catch (error) {
        if (error instanceof Refusal) return error.errno;
        throw error;
      }
    };
  }

  #parkOn(call) {
    if (call !== ParkedCall.sleep) this.#complete(this.#state.progress);
    this.#state.parked = call;
    this.#park();
    return Errno.success; // not looked at by a guest that unwinds
  }

  #complete(progress = 0n) {
    this.#state.parked = ParkedCall.none;
    this.#state.deadline = 0n;
    this.#state.sleeper = 0;
    this.#state.progress = progress;
  }

  #monotonic() {
    const host = this.#host.now("monotonic");
    if (this.#guestOrigin === 0n) {
      this.#hostOrigin = host;
      this.#guestOrigin = 1n; // not 0, which means never read
    }
    return this.#guestOrigin + (host > this.#hostOrigin ? host - this.#hostOrigin : 0n);
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

  // The time that the guest reads. Its later file times are not earlier than this reading.
  #now(clock) {
    if (kClocks[clock] === "monotonic") return this.#monotonic();
    const realtime = this.#host.now("realtime");
    this.#state.files.onWallClock(realtime);
    return realtime;
  }

  #clockTime(clock, out) {
    if (kClocks[clock] === undefined) return Errno.inval;
    this.#memory().setU64(out, this.#now(clock));
    return Errno.success;
  }

  #write(fd, list, count, out) {
    const descriptor = this.#files.descriptor(fd, Right.write);
    if (descriptor.kind === Stream.node) return this.#files.write(descriptor, list, count, out);
    const memory = this.#memory();
    const { parts, size } = memory.buffers(list, count);
    let text = new Uint8Array(Math.min(size, kMaxStreamWrite));
    eachPart(parts, 0, text.length, (position, part) => text.set(part, position));
    if (size > text.length) text = text.subarray(0, text.lastIndexOf(10) + 1 || text.length); // whole lines, if there is one
    memory.setU32(out, text.length); // tested before anything leaves
    if (text.length > 0) this.#host.write(descriptor.kind, text);
    this.#state.outputBytes += BigInt(text.length);
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
    const descriptor = this.#files.descriptor(fd, Right.read);
    if (descriptor.kind === Stream.node) return this.#files.read(descriptor, list, count, out);
    const memory = this.#memory();
    const { parts, size } = memory.buffers(list, count);
    memory.setU32(out, 0);
    if (size > 0 && this.#inputState() === "none") return this.#parkOn(ParkedCall.input);
    this.#complete();
    const input = this.#state.input;
    const read = Math.min(size, input.length);
    eachPart(parts, 0, read, (position, part) => part.set(input.subarray(position, position + part.length)));
    this.#state.input = input.slice(read);
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

  // null: it waits for standard input. Else its event: output and files are always ready, and what can never be is an error.
  #certainEvent(one) {
    const reads = one.type === EventType.fdRead;
    try {
      const descriptor = this.#files.descriptor(one.target, reads ? Right.read : Right.write);
      if (reads && descriptor.kind === Stream.input) return null;
      const size = descriptor.kind === Stream.node ? BigInt(sizeOf(this.#state.files.node(descriptor.node))) : 0n;
      return { ...one, errno: Errno.success, readable: reads && size > descriptor.offset ? size - descriptor.offset : 0n };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { ...one, errno: error.errno, readable: 0n };
    }
  }

  #pollOneoff(subscriptions, events, count, out) {
    if (count < 1 || count > kMaxSubscriptions) return Errno.inval;
    const memory = this.#memory();
    memory.view(out, 4);
    memory.bytes(events, count * kEventBytes);
    const list = Array.from({ length: count }, (_, i) => readSubscription(memory, (subscriptions >>> 0) + kSubscriptionBytes * i));
    if (list.some((one) => one.type > EventType.fdWrite)) return Errno.inval;
    const clocks = list.filter((one) => one.type === EventType.clock);
    if (clocks.some((one) => one.target >= kSleepClocks)) return Errno.notsup;

    const streams = list.filter((one) => one.type !== EventType.clock).map((one) => ({ one, event: this.#certainEvent(one) }));
    const due = streams.map(({ event }) => event).filter((event) => event !== null);
    const inputs = streams.filter(({ event }) => event === null).map(({ one }) => one);
    const parked = this.#addWaiting(clocks, inputs, due);
    if (parked !== null) return parked;
    this.#complete();
    due.forEach((one, i) => this.#putEvent(memory, (events >>> 0) + kEventBytes * i, one));
    memory.setU32(out, due.length);
    return Errno.success;
  }

  // Adds what is not certain, input and the end of a sleep; null, or what the call answers instead.
  #addWaiting(clocks, inputs, due) {
    const maySleep = due.length === 0 && clocks.length > 0;
    if (maySleep && this.#state.parked === ParkedCall.none) this.#chooseSleeper(clocks);
    const sleeper = clocks[this.#state.sleeper];
    if (maySleep && sleeper === undefined) return Errno.inval; // only an image made by hand gets here
    if (inputs.length > 0 && this.#inputState() !== "none") {
      for (const one of inputs) due.push({ ...one, errno: Errno.success, readable: BigInt(this.#state.input.length) });
    }
    if (due.length > 0) return null;
    if (!maySleep) return this.#parkOn(ParkedCall.input);
    if (this.#monotonic() < this.#state.deadline) return this.#parkOn(ParkedCall.sleep);
    due.push({ ...sleeper, errno: Errno.success, readable: 0n });
    return null;
  }

  #putEvent(memory, at, one) {
    const bytes = memory.bytes(at, kEventBytes).fill(0);
    const view = new DataView(bytes.buffer, bytes.byteOffset, kEventBytes);
    view.setBigUint64(0, one.userdata, true);
    view.setUint16(8, one.errno, true);
    view.setUint8(10, one.type);
    view.setBigUint64(16, one.readable, true);
  }
}
