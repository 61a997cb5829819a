// Run by: node --test web/
import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import test from "node:test";
import { ByteReader, ByteWriter } from "./bytes.mjs";
import { ChunkStore } from "./chunk_store.mjs";
import { FileTree, kRoot, makeDirectory, makeFile, makeSymlink, sizeOf, walk } from "./file_tree.mjs";
import { readFileTree, Stream, writeFileTree } from "./file_tree_codec.mjs";
import { outputFiles } from "./output_files.mjs";
import { Errno, Refusal, Right } from "./wasi_abi.mjs";
import { Wasi } from "./wasi.mjs";
import { decodeWasiState, encodeWasiState, freshWasiState, ParkedCall } from "./wasi_state.mjs";

globalThis.crypto ??= webcrypto;

const kPath = 1000;
const kVector = 16;
const kOut = 8;
const kData = 65536;
const bytesOf = (text) => new TextEncoder().encode(text);

function errnoOf(action) {
  try {
    action();
  } catch (error) {
    if (error instanceof Refusal) return error.errno;
    throw error;
  }
  return Errno.success;
}

// A guest with nothing but its calls.
class Caller {
  buffer = new ArrayBuffer(4 * 2 ** 20);
  parked = false;

  constructor(state = freshWasiState({})) {
    this.state = state;
    const host = { write: () => {}, read: () => null, now: () => 5n };
    this.wasi = new Wasi(state, host, { memory: () => this.buffer, park: () => (this.parked = true) });
    this.calls = this.wasi.imports(["path_create_directory", "path_open", "path_symlink", "path_unlink_file", "fd_read", "fd_write", "fd_seek", "fd_readdir", "fd_close"]);
  }

  get out() {
    return new DataView(this.buffer).getUint32(kOut, true);
  }

  put(address, text) {
    new Uint8Array(this.buffer).set(bytesOf(text), address);
    return text.length;
  }

  vector(size) {
    new DataView(this.buffer).setUint32(kVector, kData, true);
    new DataView(this.buffer).setUint32(kVector + 4, size, true);
  }

  open(path, flags = 0, rights = Right.all & ~Right.write) {
    const errno = this.calls.path_open(3, 1, kPath, this.put(kPath, path), flags, rights, Right.all, 0, kOut);
    return errno === Errno.success ? this.out : -errno;
  }

  write(fd, text) {
    this.vector(this.put(kData, text));
    return this.calls.fd_write(fd, kVector, 1, kOut);
  }

  read(fd, size) {
    this.vector(size);
    this.parked = false;
    assert.equal(this.calls.fd_read(fd, kVector, 1, kOut), Errno.success);
    return this.parked ? null : new TextDecoder().decode(new Uint8Array(this.buffer, kData, this.out));
  }

  // Moves the state as into another process: encoded, except for the content of files.
  moved() {
    const state = decodeWasiState(encodeWasiState(this.wasi.saved()).slice());
    const contents = this.state.files.contents();
    state.files.contents().forEach((content, i) => (content.pages = contents[i].pages));
    const next = new Caller(state);
    next.buffer = this.buffer;
    return next;
  }
}

test("paths never leave the tree", () => {
  const tree = new FileTree();
  const a = tree.make(kRoot, "a", makeDirectory());
  const file = tree.make(a, "f", makeFile());
  tree.make(a, "up", makeSymlink("../../../a/f"));
  tree.make(a, "self", makeSymlink("self"));
  for (const path of ["a/f", "/a/../../a/./f", "a/up", "../../a/f"]) assert.equal(walk(tree, kRoot, path, "follow").node, file, path);
  for (const path of ["..", "../a/f", "/a/f", "/", "up"]) assert.equal(errnoOf(() => walk(tree, a, path, "follow")), Errno.perm, path);
  assert.equal(walk(tree, a, "f", "follow").node, file);
  assert.equal(errnoOf(() => walk(tree, kRoot, "a/self", "follow")), Errno.loop);
  assert.equal(errnoOf(() => walk(tree, kRoot, "a/f/", "follow")), Errno.notdir);
  assert.equal(errnoOf(() => tree.rename(kRoot, "a", a, "inside")), Errno.inval);
});

test("times are moved to the present when the tree learns the time", () => {
  const tree = new FileTree();
  const today = 1700000000000000000n;
  const [early, late] = ["early", "late"].map((name) => tree.node(tree.make(kRoot, name, makeFile())));
  tree.onWallClock(today);
  assert.ok(early.modified < late.modified && late.modified <= today && early.modified > today - 1000n);
  tree.setTimes(walk(tree, kRoot, "early", "keep").node, 7n, 8n);
  tree.onWallClock(today + 1000000n);
  assert.equal(early.modified, 8n);
});

test("a directory has no rights of files, and gives only its own", () => {
  const guest = new Caller();
  guest.calls.path_create_directory(3, kPath, guest.put(kPath, "d"));
  const fd = guest.open("d");
  assert.equal(guest.calls.fd_seek(fd, 0n, 0, kOut), Errno.badf);
  assert.equal(guest.state.descriptors.get(fd).rights & (Right.seek | Right.write | Right.setSize), 0n);
  const length = guest.put(kPath, "f");
  assert.equal(guest.calls.path_symlink(kPath, guest.put(kPath, "/"), fd, kPath + 100, guest.put(kPath + 100, "root")), Errno.perm);
  guest.put(kPath, "f");
  guest.state.descriptors.get(fd).rights &= ~(Right.createFile | Right.pathSetSize);
  for (const flags of [1, 8]) assert.equal(guest.calls.path_open(fd, 1, kPath, length, flags, Right.read, 0n, 0, kOut), Errno.notcapable);
  guest.state.descriptors.get(fd).inheriting = Right.read;
  assert.equal(guest.calls.path_open(fd, 1, kPath, length, 0, Right.write, 0n, 0, kOut), Errno.notcapable);
});

test("a tree is the same after it was bytes", () => {
  const tree = new FileTree();
  const folder = tree.make(kRoot, "folder", makeDirectory());
  tree.write(tree.make(folder, "file", makeFile()), 70000, bytesOf("end"));
  tree.make(folder, "l\u00ff", makeSymlink("file"));
  const encode = (one) => {
    const writer = new ByteWriter();
    writeFileTree(writer, one);
    return writer.take().slice();
  };
  const again = readFileTree(new ByteReader(encode(tree), "the test"));
  assert.deepEqual(encode(again), encode(tree));
  assert.equal(again.pages, 2);
  assert.equal(sizeOf(again.node(3n)), 70003);
});

test("open files go on after a move", () => {
  let guest = new Caller();
  const fd = guest.open("f", 1, Right.all);
  assert.equal(guest.write(fd, "hello"), Errno.success);
  guest.calls.path_unlink_file(3, kPath, guest.put(kPath, "f"));
  assert.equal(guest.calls.fd_seek(fd, -4n, 1, kOut), Errno.success);
  guest = guest.moved();
  assert.equal(guest.read(fd, 3), "ell");
  assert.equal(guest.open("f"), -Errno.noent);
  assert.equal(guest.calls.fd_close(fd), Errno.success);
  assert.equal(guest.state.files.pages, 0);
});

test("a read of an input file waits for its parts and goes on after a move", async () => {
  const parts = ["x".repeat(2 ** 20), "tail"];
  const input = { size: 2 ** 20 + 4, chunks: parts.map((part) => new Uint8Array(createHash("sha256").update(part).digest())) };
  let guest = new Caller();
  guest.state.files.make(kRoot, "in", { type: 0, input });
  guest.state.files.node(2n).readOnly = true;
  const fd = guest.open("in");
  assert.equal(guest.read(fd, 2 ** 21), null);
  assert.equal(guest.state.parked, ParkedCall.chunk);
  await assert.rejects(guest.wasi.chunks.supply(bytesOf("another file")));
  await guest.wasi.chunks.supply(bytesOf(parts[0]));
  assert.equal(guest.read(fd, 2 ** 21), null);
  guest = guest.moved();
  assert.equal(guest.read(fd, 2 ** 21), null);
  await guest.wasi.chunks.supply(bytesOf(parts[1])); // the first one is not asked for again
  assert.equal(guest.read(fd, 2 ** 21), parts.join(""));
  assert.equal(guest.open("in", 0, Right.all), -Errno.rofs);
});

test("a few chunks are kept", async () => {
  const store = new ChunkStore();
  const chunks = ["a", "b", "c", "d", "e"].map((text) => ({ bytes: bytesOf(text), hash: new Uint8Array(createHash("sha256").update(text).digest()) }));
  for (const { bytes, hash } of chunks) {
    assert.equal(store.find(hash, 1), undefined);
    await store.supply(bytes);
  }
  assert.equal(store.find(chunks[0].hash, 1), undefined);
  assert.deepEqual(store.find(chunks[4].hash, 1), chunks[4].bytes);
});

test("outputs are handed out in order, once", () => {
  const guest = new Caller();
  guest.state.outputs = ["out/", "out/a", "none"].map(bytesOf);
  const { files } = guest.state;
  const out = files.make(kRoot, "out", makeDirectory());
  files.make(out, "z", makeSymlink("a"));
  files.write(files.make(out, "a", makeFile()), 0, bytesOf("text"));
  const list = [...outputFiles(guest.state)].map(({ path, type, bytes }) => `${path} ${type} ${new TextDecoder().decode(bytes)}`);
  assert.deepEqual(list, ["out directory ", "out/a file text", "out/z symlink a"]);
});

test("streams are descriptors, too", () => {
  const guest = new Caller();
  assert.equal(guest.state.descriptors.get(1).kind, Stream.output);
  assert.equal(guest.write(0, "x"), Errno.badf);
  assert.equal(guest.write(1, "x".repeat(100000)), Errno.success);
  assert.equal(guest.out, 65536);
});
