// Continues an image in Node, from where it was suspended.
//
//   node web/resume.mjs IMAGE [--module FILE] [--suspend-after MS | --suspend-after-polls N] [--image OUT] [--inputs FOLDER] [--outputs FOLDER]
//
// Input files are looked for by their content below --inputs; declared outputs are put below --outputs when the program has ended.
// Output and exit code are the guest's. Exit code 75: it has been suspended again, into OUT. Exit code 2: the image cannot be continued.
import { readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { webcrypto } from "node:crypto";
import { parseArgs } from "node:util";
import { GodwitError, Isolate } from "./godwit.mjs";
import { FolderChunks, placeOutputs } from "./node_files.mjs";
import { NodeStdin } from "./node_stdin.mjs";

const kExitTrapped = 1;
const kExitBadInput = 2;
const kExitSuspended = 75;
const kLongestWaitMs = 2 ** 31 - 1;

globalThis.crypto ??= webcrypto; // Node 18 has it, but not as a global

function writeAll(fd, bytes) {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // a full pipe that does not block: try again
    }
  }
}

const stdin = new NodeStdin();

const host = {
  write: writeAll,
  read: () => stdin.read(),
  now: (clock) => (clock === "monotonic" ? process.hrtime.bigint() : BigInt(Date.now()) * 1000000n),
};

function count(text, option) {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,9}$/.test(text)) throw new GodwitError("invalid", `${option} needs a number from 0 to 999999999, not '${text}'`);
  return Number(text);
}

function readOptions() {
  const text = { type: "string" };
  const options = { module: text, image: text, "suspend-after": text, "suspend-after-polls": text, inputs: text, outputs: text };
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options });
  } catch (error) {
    throw new GodwitError("invalid", error.message);
  }
  const { values, positionals } = parsed;
  if (positionals.length !== 1) throw new GodwitError("invalid", "give one image: node web/resume.mjs IMAGE");
  const milliseconds = count(values["suspend-after"], "--suspend-after");
  const polls = count(values["suspend-after-polls"], "--suspend-after-polls");
  if ((milliseconds ?? polls) !== undefined && values.image === undefined) {
    throw new GodwitError("invalid", "say with --image where the suspended program goes");
  }
  const { module, image, inputs, outputs } = values;
  return { file: positionals[0], module, image, inputs, outputs, milliseconds, polls };
}

function readFileOr(path) {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    throw new GodwitError("invalid", `${path} cannot be read: ${error.message}`);
  }
}

// Runs the guest to its end, waiting where it waits, unless it is to be suspended.
async function drive(isolate, { milliseconds, polls, inputs }) {
  const end = performance.now() + (milliseconds ?? Infinity);
  const chunks = new FolderChunks(inputs);
  for (;;) {
    const stop = isolate.resume({ polls: polls ?? null, milliseconds: end - performance.now() });
    if (stop.kind !== "parked") return stop;
    if (performance.now() >= end) return { kind: "suspended" };
    if (stop.call === "chunk") {
      await isolate.supplyChunk(chunks.chunk(stop.hash));
      continue;
    }
    await stdin.waitForInput(Math.min(stop.milliseconds ?? kLongestWaitMs, end - performance.now(), kLongestWaitMs));
  }
}

// Readers see the old file or the whole new one.
function writeFileAtomic(path, bytes) {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, bytes, { flush: true });
  renameSync(temporary, path);
}

async function main() {
  const options = readOptions();
  const module = options.module === undefined ? null : readFileOr(options.module);
  const isolate = await Isolate.restore(readFileOr(options.file), host, module);
  const stop = await drive(isolate, options);
  switch (stop.kind) {
    case "exited":
      if (options.outputs !== undefined) placeOutputs(isolate.outputs(), options.outputs);
      return stop.code;
    case "suspended":
      isolate.keepInput(stdin.takeUnread());
      writeFileAtomic(options.image, await isolate.save());
      return kExitSuspended;
    default:
      process.stderr.write(`godwit: the program ended: ${stop.message}\n${stop.backtrace.map((line) => `  ${line}\n`).join("")}`);
      return kExitTrapped;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof GodwitError)) throw error;
  process.stderr.write(`godwit: ${error.message}\n`);
  process.exitCode = kExitBadInput;
} finally {
  stdin.close();
}
