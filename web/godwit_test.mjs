// Run by: node --test web/
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ByteWriter } from "./bytes.mjs";
import { decodeImage, decodeModuleInfo, encodeImage, GodwitError, Isolate } from "./godwit.mjs";
import { fillRandom } from "./guest_random.mjs";

globalThis.crypto ??= webcrypto;

const kCounterPolls = 2;

function section({ version = 2, level = 2, poll = kCounterPolls, cell = 0, globals = [0x7f, 0x7f] } = {}) {
  const writer = new ByteWriter();
  for (const byte of [version, level, poll, 0]) writer.u8(byte);
  for (const word of [0, cell, 0, 65536]) writer.u32(word);
  writer.bytes(new Uint8Array(32));
  writer.u16(globals.length);
  for (const type of globals) writer.u8(type);
  return writer.take();
}

function tickerModule(payload = section()) {
  const name = new TextEncoder().encode("godwit");
  const writer = new ByteWriter();
  writer.bytes(new Uint8Array(readFileSync(new URL("testdata/ticker.wasm", import.meta.url))));
  writer.u8(0); // custom section; its sizes are small enough for one byte
  writer.u8(1 + name.length + payload.length);
  writer.u8(name.length);
  writer.bytes(name);
  writer.bytes(payload);
  return writer.take();
}

class MemoryHost {
  text = "";
  write = (_fd, bytes) => {
    this.text += new TextDecoder().decode(bytes);
  };
  read = () => null;
  now = () => 5n;
}

async function undisturbedText() {
  const host = new MemoryHost();
  const isolate = await Isolate.make(tickerModule(), {}, host);
  assert.deepEqual(isolate.resume(), { kind: "exited", code: 3 });
  return host.text;
}

async function refusal(action) {
  const error = await action().then(
    () => assert.fail("it was accepted"),
    (reason) => reason,
  );
  assert.ok(error instanceof GodwitError, `${error}`);
  return error;
}

test("a module runs to its end", async () => {
  assert.match(await undisturbedText(), /^0123456789[a-z]$/);
});

test("suspended at every poll, each time into a new isolate", async () => {
  const host = new MemoryHost();
  let isolate = await Isolate.make(tickerModule(), {}, host);
  let stop = isolate.resume({ polls: 0 });
  let moves = 0;
  for (; stop.kind === "suspended"; moves++) {
    isolate = await Isolate.restore(await isolate.save(), host);
    stop = isolate.resume({ polls: 1 });
  }
  assert.equal(moves, 10);
  assert.deepEqual(stop, { kind: "exited", code: 3 });
  assert.equal(host.text, await undisturbedText());
});

test("time is up: suspended inside a host call, which is made again", async () => {
  const host = new MemoryHost();
  const first = await Isolate.make(tickerModule(), {}, host);
  assert.equal(first.resume({ milliseconds: -1 }).kind, "suspended");
  assert.equal(host.text, "");
  const second = await Isolate.restore(await first.save(), host);
  assert.deepEqual(second.resume(), { kind: "exited", code: 3 });
  assert.equal(host.text, await undisturbedText());
});

test("an image that was decoded is encoded to the same bytes", async () => {
  const isolate = await Isolate.make(tickerModule(), { args: ["ticker", "ü"], env: ["A=1"] }, new MemoryHost());
  isolate.resume({ polls: 4 });
  const file = await isolate.save();
  assert.deepEqual(await encodeImage(await decodeImage(file)), file);
});

test("compressed and incremental images are refused by name", async () => {
  const golden = (name) => new Uint8Array(readFileSync(new URL(`../src/wire/testdata/${name}`, import.meta.url)));
  assert.match((await refusal(() => decodeImage(golden("full.v4.image")))).message, /compressed/);
  assert.match((await refusal(() => decodeImage(golden("incremental.v4.image")))).message, /only the changes/);
});

test("an image without its module needs the module", async () => {
  const isolate = await Isolate.make(tickerModule(), {}, new MemoryHost());
  const file = await isolate.save({ includeModule: false });
  assert.match((await refusal(() => Isolate.restore(file, new MemoryHost()))).message, /does not include its module/);
  await Isolate.restore(file, new MemoryHost(), tickerModule());
});

test("damaged images are refused", async () => {
  const isolate = await Isolate.make(tickerModule(), { args: ["ticker"] }, new MemoryHost());
  const file = await isolate.save();
  for (const length of [0, 7, 9, 100, 200, file.length - 1]) await refusal(() => decodeImage(file.slice(0, length)));
  for (let at = 0; at < file.length; at += at < 300 ? 1 : 997) {
    const flipped = file.slice();
    flipped[at] ^= 0x10;
    await refusal(() => decodeImage(flipped));
  }
  const longer = new Uint8Array(file.length + 1);
  longer.set(file);
  assert.match((await refusal(() => decodeImage(longer))).message, /something added/);
});

test("sections that make no sense are refused", () => {
  const bad = [{ version: 9 }, { level: 3 }, { poll: 3 }, { level: 0 }, { cell: 4 }, { poll: 1, cell: 2 }, { globals: [0x70] }];
  for (const change of bad) assert.throws(() => decodeModuleInfo(section(change)), GodwitError);
  assert.throws(() => decodeModuleInfo(section().subarray(0, 30)), GodwitError);
});

test("a foreign module is refused", async () => {
  const plain = new Uint8Array(readFileSync(new URL("testdata/ticker.wasm", import.meta.url)));
  assert.match((await refusal(() => Isolate.make(plain, {}, new MemoryHost()))).message, /no godwit section/);
  assert.match((await refusal(() => Isolate.make(new Uint8Array(4), {}, new MemoryHost()))).message, /does not compile/);
  const third = section({ globals: [0x7f, 0x7f, 0x7f] });
  assert.match((await refusal(() => Isolate.make(tickerModule(third), {}, new MemoryHost()))).message, /godwit\.g2/);
});

test("random numbers are the key stream of ChaCha20", () => {
  const out = new Uint8Array(130);
  fillRandom(out, new Uint8Array(32), 0n);
  // First block of the all-zero key and nonce (RFC 8439, A.1, test vector 1).
  assert.equal(Buffer.from(out.subarray(0, 16)).toString("hex"), "76b8e0ada0f13d90405d6ae55386bd28");
  const later = new Uint8Array(70);
  fillRandom(later, new Uint8Array(32), 60n);
  assert.deepEqual(later, out.subarray(60));
});
