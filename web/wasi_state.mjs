// The part of a guest's state that lives outside its memory, as in docs/image-format.md (src/isolate/wasi/wasi_state.h is the same in C++).
import { ByteReader, ByteWriter } from "./bytes.mjs";
import { refuse } from "./errors.mjs";
import { FileTree } from "./file_tree.mjs";
import { readDescriptors, readFileTree, standardDescriptors, writeDescriptors, writeFileTree } from "./file_tree_codec.mjs";

const kVersion = 2;
const kMaxStrings = 65536;
const kMaxStringBytes = 2 ** 20;
const kMaxInputBytes = 8 * 2 ** 20;

// The host call that the guest has been unwound from and that it calls again when it is resumed.
export const ParkedCall = Object.freeze({
  none: 0,
  sleep: 1,
  input: 2,
  checkpoint: 3,
  chunk: 4,
  fork: 5, // asked for
  forkedParent: 6, // carried out; `deadline` is the id of the child
  forkedChild: 7,
  forkRefused: 8,
  mail: 9,
  timedMail: 10,
});

const kForkCalls = [5, 6, 7, 8];
const kMailCalls = [9, 10];

// Strings are kept as bytes: nothing says that they are UTF-8.
export function freshWasiState({ args = [], env = [], seed = new Uint8Array(32), input = new Uint8Array(0) }) {
  const encode = (text) => new TextEncoder().encode(text);
  const files = new FileTree();
  return {
    args: args.map(encode),
    env: env.map(encode),
    randomSeed: seed,
    randomPosition: 0n,
    monotonic: 0n,
    outputBytes: 0n,
    input,
    inputEnded: false,
    parked: ParkedCall.none,
    deadline: 0n,
    sleeper: 0,
    progress: 0n,
    outputs: [],
    files,
    descriptors: standardDescriptors(files),
  };
}

function readBytes(reader, limit) {
  const length = reader.u32();
  if (length > limit) refuse("corrupt", `the WASI state holds a text of ${length} bytes, ${limit} are allowed`);
  return reader.bytes(length).slice();
}

function readStrings(reader) {
  const count = reader.u32();
  if (count > kMaxStrings) refuse("corrupt", `the WASI state holds ${count} strings in one list`);
  const strings = [];
  let left = kMaxStringBytes;
  for (let i = 0; i < count; i++) {
    const text = readBytes(reader, left - 1);
    if (text.includes(0)) refuse("corrupt", "the WASI state holds a string with a character 0");
    left -= text.length + 1;
    strings.push(text);
  }
  return strings;
}

export function decodeWasiState(bytes) {
  const reader = new ByteReader(bytes, "the WASI state of the image");
  const version = reader.u8();
  if (version !== kVersion) refuse("unsupported", `the WASI state has version ${version}, this program reads version ${kVersion}`);
  const parked = reader.u8();
  if (kForkCalls.includes(parked)) refuse("unsupported", "the program was suspended while it forks, which only the native engine can go on with");
  if (kMailCalls.includes(parked)) refuse("unsupported", "the program waits for a message of another thread, which only a job can deliver");
  const inputEnded = reader.u8();
  const state = {
    parked,
    inputEnded: inputEnded === 1,
    deadline: reader.u64(),
    sleeper: reader.u32(),
    progress: reader.u64(),
    monotonic: reader.u64(),
    outputBytes: reader.u64(),
    randomSeed: reader.bytes(32).slice(),
    randomPosition: reader.u64(),
    input: readBytes(reader, kMaxInputBytes),
    args: readStrings(reader),
    env: readStrings(reader),
    outputs: readStrings(reader),
    files: readFileTree(reader),
  };
  state.descriptors = readDescriptors(reader, state.files);
  reader.expectEnd();
  const sleeps = parked === ParkedCall.sleep;
  const withDeadline = sleeps || parked === ParkedCall.forkedParent;
  const idle = (withDeadline || state.deadline === 0n) && (sleeps || state.sleeper === 0) && (parked === ParkedCall.chunk || state.progress === 0n);
  const plausible = parked <= ParkedCall.forkRefused && inputEnded <= 1 && idle;
  if (!plausible) refuse("corrupt", "the WASI state of the image contradicts itself; use another copy");
  return state;
}

function writeStrings(writer, strings) {
  writer.u32(strings.length);
  for (const text of strings) {
    writer.u32(text.length);
    writer.bytes(text);
  }
}

export function encodeWasiState(state) {
  const writer = new ByteWriter();
  writer.u8(kVersion);
  writer.u8(state.parked);
  writer.u8(state.inputEnded ? 1 : 0);
  writer.u64(state.deadline);
  writer.u32(state.sleeper);
  writer.u64(state.progress);
  writer.u64(state.monotonic);
  writer.u64(state.outputBytes);
  writer.bytes(state.randomSeed);
  writer.u64(state.randomPosition);
  writer.u32(state.input.length);
  writer.bytes(state.input);
  writeStrings(writer, state.args);
  writeStrings(writer, state.env);
  writeStrings(writer, state.outputs);
  writeFileTree(writer, state.files);
  writeDescriptors(writer, state.descriptors);
  return writer.take();
}
