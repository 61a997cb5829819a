// A running program that can be stopped, saved and continued elsewhere: the host's half of the protocol in
// docs/design/000-mobile-isolates.md, on the engine of this Node or browser.
import { backtrace, withFrames } from "./backtrace.mjs";
import { equalBytes, sha256 } from "./bytes.mjs";
import { refuse } from "./errors.mjs";
import { decodeImage, encodeImage, kFirstFilePage, kPageBytes, withoutEndZeros } from "./image.mjs";
import { readModuleInfo } from "./module_info.mjs";
import { outputFiles } from "./output_files.mjs";
import { Exit, Wasi } from "./wasi.mjs";
import { decodeWasiState, encodeWasiState, freshWasiState, ParkedCall } from "./wasi_state.mjs";

const kWasiModule = "wasi_snapshot_preview1";
const kMostPolls = 0x7fffffff;
const kPollsBetweenLooksAtTheClock = 20000;

// Calls that the guest repeats after a suspension, so that it can be suspended inside them (src/wire/wasm/wasi_imports.cc).
const kRepeatable = new Set(["fd_pread", "fd_read", "fd_write", "poll_oneoff", "sched_yield"]);

// Why resume() came back: {kind: "suspended"}, {kind: "parked", call, milliseconds?, hash?}, {kind: "exited", code},
// {kind: "trapped", message, backtrace}.
export class Isolate {
  #module;
  #wasm;
  #moduleHash;
  #info;
  #exports;
  #wasi;
  #phase = "fresh";
  #jobState = new Uint8Array(0); // of the layers above; passed on as it is
  #state;
  #stopAt = Infinity; // performance.now() after which the guest is to be suspended

  // From the start. config: {args, env, seed, input}, see wasi_state.mjs; host: see wasi.mjs.
  static async make(wasm, config, host) {
    const isolate = new Isolate();
    await isolate.#instantiate(wasm, freshWasiState(config), host);
    return isolate;
  }

  // From the bytes of an image, whose module may be given apart.
  static async restore(file, host, wasm = null) {
    const image = await decodeImage(file);
    const module = wasm ?? image.moduleWasm;
    if (module.length === 0) refuse("invalid", "the image does not include its module: give the module too, or save the image with it");
    if (!equalBytes(await sha256(module), image.moduleHash)) refuse("invalid", "the image is of another module");
    const isolate = new Isolate();
    const state = decodeWasiState(image.wasiState);
    putFiles(state.files, image);
    await isolate.#instantiate(module, state, host);
    isolate.#putMemory(image);
    isolate.#putGlobals(image.globals);
    isolate.#phase = image.phase;
    isolate.#jobState = image.jobState;
    return isolate;
  }

  get info() {
    return this.#info;
  }

  // Runs until the guest ends, waits, or is to be suspended: `polls` stops a module with counter polls at the (polls + 1)-th poll;
  // `milliseconds` stops it at the first opportunity after that time: with counter polls a poll, else a host call.
  resume({ polls = null, milliseconds = Infinity } = {}) {
    if (polls !== null && this.#info.poll !== "counter") {
      refuse("invalid", "only a module built with counter polls can be suspended after a number of polls");
    }
    this.#stopAt = performance.now() + milliseconds;
    if (polls !== null) return this.#slice(polls);
    for (;;) {
      const stop = this.#slice(milliseconds === Infinity ? kMostPolls : kPollsBetweenLooksAtTheClock);
      const goesOn = stop.kind === "suspended" && this.#info.poll === "counter" && performance.now() < this.#stopAt;
      if (!goesOn) return stop;
    }
  }

  // Input that was taken from its source but not by the guest; it goes into the image.
  keepInput(bytes) {
    this.#wasi.keepInput(bytes);
  }

  // The part of an input file that the guest is parked for. Refused if it has another hash.
  supplyChunk(bytes) {
    return this.#wasi.chunks.supply(bytes);
  }

  // The files at the guest's declared outputs: {path, type: "file" | "directory" | "symlink", bytes}, a directory before its content.
  outputs() {
    return outputFiles(this.#state);
  }

  // The image as bytes, complete, with the module unless told otherwise.
  async save({ includeModule = true } = {}) {
    const memory = new Uint8Array(this.#exports.memory.buffer);
    const pages = [];
    for (let index = 0; index * kPageBytes < memory.length; index++) {
      const bytes = withoutEndZeros(memory.subarray(index * kPageBytes, (index + 1) * kPageBytes));
      if (bytes.length > 0) pages.push({ index, bytes, hash: await sha256(bytes) });
    }
    let filePages = 0;
    for (const page of this.#state.files.contents().flatMap((content) => content.pages)) {
      const index = kFirstFilePage + filePages++;
      const bytes = page === null ? [] : withoutEndZeros(page);
      if (bytes.length > 0) pages.push({ index, bytes, hash: await sha256(bytes) });
    }
    return encodeImage({
      moduleHash: this.#moduleHash,
      phase: this.#phase,
      memoryPages: memory.length / kPageBytes,
      filePages,
      globals: this.#info.globals.map((type, i) => ({ type, bytes: globalBytes(type, this.#exports[`godwit.g${i}`].value) })),
      wasiState: encodeWasiState(this.#wasi.saved()),
      jobState: this.#jobState,
      moduleWasm: includeModule ? this.#wasm : new Uint8Array(0),
      pages,
    });
  }

  async #instantiate(wasm, state, host) {
    this.#wasm = wasm;
    this.#moduleHash = await sha256(wasm);
    this.#module = await WebAssembly.compile(wasm).catch((error) => refuse("invalid", `the module does not compile: ${error.message}`));
    this.#info = readModuleInfo(this.#module);
    if (this.#info.level === "off") refuse("unsupported", "the module is not mobile: build it with --mobile=fine or coarse");
    if (this.#info.globals.includes("v128")) refuse("unsupported", "the module keeps a vector in a global variable, which JavaScript cannot save");
    this.#state = state;
    this.#wasi = new Wasi(state, host, { memory: () => this.#exports.memory.buffer, park: () => this.#exports["godwit.begin_unwind"]() });
    const instance = await WebAssembly.instantiate(this.#module, this.#imports());
    this.#exports = instance.exports;
    this.#checkExports();
  }

  #imports() {
    const wanted = WebAssembly.Module.imports(this.#module);
    const checkpoint = () => this.#wasi.checkpoint(performance.now() >= this.#stopAt);
    const godwit = { checkpoint, ...this.#wasi.threadCalls() };
    for (const { module, name, kind } of wanted) {
      const known = kind === "function" && (module === kWasiModule || (module === "godwit" && Object.hasOwn(godwit, name)));
      if (!known) refuse("invalid", `the module imports ${module}.${name}, which is not offered here`);
    }
    const functions = this.#wasi.imports(wanted.filter((one) => one.module === kWasiModule).map((one) => one.name));
    for (const name of Object.keys(functions).filter((name) => kRepeatable.has(name))) {
      const call = functions[name];
      functions[name] = (...args) => (this.#unwindIfDue() ? 0 : call(...args));
    }
    return { [kWasiModule]: functions, godwit };
  }

  #checkExports() {
    const globals = ["godwit.unwinding", "godwit.rewinding", ...this.#info.globals.map((_, i) => `godwit.g${i}`)];
    if (this.#info.poll === "counter") globals.push("godwit.counter");
    const functions = ["_start", "godwit.begin_unwind"];
    const missing = [
      ...globals.filter((name) => !(this.#exports[name] instanceof WebAssembly.Global)),
      ...functions.filter((name) => typeof this.#exports[name] !== "function"),
      ...["memory"].filter((name) => !(this.#exports[name] instanceof WebAssembly.Memory)),
    ];
    if (missing.length > 0) refuse("invalid", `the module does not export ${missing[0]}, which its godwit section promises`);
    if (this.#info.pollCell + 4 > this.#exports.memory.buffer.byteLength) refuse("corrupt", "the poll cell lies outside the memory");
  }

  #putMemory(image) {
    const memory = this.#exports.memory;
    const missing = image.memoryPages - memory.buffer.byteLength / kPageBytes;
    if (missing < 0) refuse("corrupt", "the memory of the image is smaller than the module's");
    try {
      memory.grow(missing);
    } catch (error) {
      refuse("invalid", `the memory of the image (${image.memoryPages} pages) cannot be had here: ${error.message}`);
    }
    const bytes = new Uint8Array(memory.buffer).fill(0); // the module's data segments have written some of it
    for (const page of image.pages) if (page.index < kFirstFilePage) bytes.set(page.bytes, page.index * kPageBytes);
  }

  #putGlobals(globals) {
    const types = globals.map((one) => one.type);
    if (types.join() !== this.#info.globals.join()) refuse("corrupt", "the global variables of the image are not those of the module");
    globals.forEach(({ type, bytes }, i) => {
      this.#exports[`godwit.g${i}`].value = globalValue(type, bytes);
    });
  }

  // Runs the guest once, with a budget of polls if it counts them.
  #slice(polls) {
    this.#withdrawRequest();
    if (this.#info.poll === "counter") this.#exports["godwit.counter"].value = polls;
    if (this.#phase === "suspended") this.#exports["godwit.rewinding"].value = 1;
    try {
      withFrames(() => this.#exports._start());
    } catch (error) {
      return this.#ended(error);
    }
    if (this.#exports["godwit.unwinding"].value === 0) return { kind: "exited", code: 0 };
    this.#exports["godwit.unwinding"].value = 0;
    this.#phase = "suspended";
    return this.#whyUnwound();
  }

  #ended(error) {
    if (error instanceof Exit) return { kind: "exited", code: error.code };
    const trapped = error instanceof WebAssembly.RuntimeError;
    if (!trapped && !(error instanceof RangeError)) throw error;
    const message = trapped ? error.message : "the stack of this engine is too small for the depth of the program";
    return { kind: "trapped", message, backtrace: backtrace(error, this.#wasm, this.#module) };
  }

  #whyUnwound() {
    const { parked, deadline } = this.#state;
    if (parked === ParkedCall.none) return { kind: "suspended" };
    const call = Object.keys(ParkedCall)[parked];
    if (parked === ParkedCall.chunk) return { kind: "parked", call, hash: this.#wasi.chunks.awaited.hash };
    if (parked !== ParkedCall.sleep) return { kind: "parked", call };
    const left = deadline - this.#wasi.saved().monotonic;
    return { kind: "parked", call, milliseconds: left > 0n ? Number(left / 1000000n) + 1 : 0 };
  }

  #withdrawRequest() {
    if (this.#info.poll === "cell") new DataView(this.#exports.memory.buffer).setUint32(this.#info.pollCell, 0, true);
  }

  // Suspends the guest in the host call it is making, which it makes again when it is resumed.
  #unwindIfDue() {
    if (performance.now() < this.#stopAt) return false;
    this.#exports["godwit.begin_unwind"]();
    return true;
  }
}

// Gives the files of a decoded state the content they have in the image.
function putFiles(files, image) {
  if (files.pages !== image.filePages) refuse("corrupt", "the image has another number of pages of files than its files");
  const places = files.contents().flatMap((content) => content.pages.map((_, index) => ({ content, index })));
  for (const page of image.pages) {
    if (page.index < kFirstFilePage) continue;
    const { content, index } = places[page.index - kFirstFilePage];
    content.pages[index] = new Uint8Array(kPageBytes);
    content.pages[index].set(page.bytes);
  }
}

const kSetters = { i32: "setInt32", i64: "setBigInt64", f32: "setFloat32", f64: "setFloat64" };

function globalBytes(type, value) {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer)[kSetters[type]](0, value, true);
  return bytes;
}

function globalValue(type, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return view[kSetters[type].replace("set", "get")](0, true);
}
