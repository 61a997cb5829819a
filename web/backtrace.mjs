// Where a program was when it ended, in words: as src/isolate/backtrace.h, but for C++ names, which stay mangled.
import { ByteReader } from "./bytes.mjs";

const kLinesSection = "godwit.lines";
const kLinesVersion = 1;
const kCodeSection = 10;
const kInnermost = 32;
const kMaxFrames = 256;
const kRewindSuffix = "$rewind";
const kOursPrefix = "gw$";
const kMains = ["__main_argc_argv", "main", "__original_main"]; // clang's names; the first that is there is the program's

// Runs `call` so that errors remember more frames than the engine's own number.
export function withFrames(call) {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = kMaxFrames;
  try {
    return call();
  } finally {
    Error.stackTraceLimit = before;
  }
}

// The lines of a backtrace, innermost first: "at divide (calc.c:12)". `wasm` and `module` are those of the instance that the error comes from.
export function backtrace(error, wasm, module) {
  const frames = String(error.stack ?? "").split("\n").map(readFrame).filter((frame) => frame !== null);
  const lines = findLines(wasm, module, frames.map((frame) => frame.offset));
  const shown = frames.map((frame, i) => ({ ...frame, line: lines[i] })).filter((frame) => !frame.name.startsWith(kOursPrefix));
  const main = kMains.map((name) => shown.findLastIndex((frame) => frame.name === name)).find((index) => index >= 0);
  const texts = (main === undefined ? shown : shown.slice(0, main + 1)).map(text);
  const list = texts.slice(0, kInnermost);
  if (texts.length > list.length) list.push("...");
  if (texts.length > 0 && !shown.some((frame) => frame.line)) list.push("Build with --debug to see files and lines.");
  return list;
}

// A line of V8's stack trace: "    at f (wasm://wasm/0a1b:wasm-function[12]:0x3c)".
function readFrame(line) {
  const found = /^\s*at (?:(?:.*\.)?([^\s.(]+) \()?wasm:.*wasm-function\[([0-9]{1,10})\]:0x([0-9a-f]{1,8})/.exec(line);
  if (found === null) return null;
  const name = found[1] ?? `function[${found[2]}]`;
  return { name: name.endsWith(kRewindSuffix) ? name.slice(0, -kRewindSuffix.length) : name, offset: parseInt(found[3], 16) };
}

function text({ name, line }) {
  const plain = (kMains.includes(name) ? "main" : name).replace(/\p{Cc}/gu, "?").slice(0, 160);
  return line ? `at ${plain} (${line.file.replace(/\p{Cc}/gu, "?").slice(-120)}:${line.line})` : `at ${plain}`;
}

// By offset from the start of the module; undefined where nothing is known. A damaged table is as good as none.
function findLines(wasm, module, offsets) {
  const [section] = WebAssembly.Module.customSections(module, kLinesSection);
  if (section === undefined) return [];
  try {
    const start = codeStart(wasm);
    const table = readLines(new ByteReader(new Uint8Array(section), "the line table"));
    return offsets.map((offset) => {
      const row = table.rows.findLast((one) => one.offset <= offset - start);
      return row && row.line > 0 ? { file: table.files[row.file] ?? "?", line: row.line } : undefined;
    });
  } catch {
    return [];
  }
}

function codeStart(wasm) {
  const reader = new ByteReader(wasm, "the module");
  reader.bytes(8);
  for (;;) {
    const id = reader.u8();
    const size = reader.leb();
    if (id === kCodeSection) return reader.position;
    reader.bytes(size);
  }
}

function readLines(reader) {
  if (reader.u8() !== kLinesVersion) return { files: [], rows: [] };
  const files = Array.from({ length: Math.min(reader.leb(), reader.remaining) }, () => reader.text(reader.leb()));
  const rows = [];
  const row = { offset: 0, file: 0, line: 0 };
  for (let left = reader.leb(); left > 0; left--) {
    row.offset += reader.leb();
    row.file = reader.leb();
    const step = reader.leb();
    row.line += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    rows.push({ ...row });
  }
  return { files, rows };
}
