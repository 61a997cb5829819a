// The image of a suspended isolate, byte by byte as in docs/image-format.md (src/wire/image/image.h is the same in C++).
//
// Decoding checks sizes, order and every hash before anything is used. Compressed and incremental images are refused with a sentence.
import { ByteReader, ByteWriter, equalBytes, hex, sha256 } from "./bytes.mjs";
import { refuse } from "./errors.mjs";
import { kValueTypes } from "./module_info.mjs";

export const kPageBytes = 65536;
export const kFirstFilePage = 65536;

const kMagic = new TextEncoder().encode("GWIMAGE\0");
const kPackMagic = new TextEncoder().encode("GWPACK\0\x01");
const kVersion = 4;
const kAbiVersion = 2;
const kHashBytes = 32;
const kHeadBytes = 64;
const kPackHeadBytes = 12;
const kPackEntryBytes = 37;
const kPagesPerNode = 256;
const kPageUnit = 64;
const kPhases = ["fresh", "suspended"];
const kStorageRaw = 1;
const kStorageZstd = 2;
const kMaxMemoryPages = 65536;
const kMaxGlobals = 4096;
const kMaxFilePages = 2 ** 20;
const kMaxNodes = (kMaxMemoryPages + kMaxFilePages) / kPagesPerNode;
const kMaxWasiStateBytes = 64 * 2 ** 20;
const kMaxJobStateBytes = 16 * 2 ** 20;
const kMaxStateInRoot = 32 * 2 ** 10;
const kStatePieceBytes = 64 * 2 ** 10;
const kMaxRootBytes = 512 * 2 ** 10;
const kMaxModuleBytes = 256 * 2 ** 20;
const kValueBytes = { i32: 4, f32: 4, i64: 8, f64: 8, v128: 16 };

function damaged(what) {
  return refuse("corrupt", `the image is damaged: ${what}; use another copy`);
}

// A page as it is named and stored: without the zeros at its end, in units of 64 bytes. Empty: it is all zero, and in no image.
export function withoutEndZeros(page) {
  const last = page.findLastIndex((byte) => byte !== 0);
  return page.subarray(0, Math.ceil((last + 1) / kPageUnit) * kPageUnit);
}

function isStoredForm(page) {
  return page.length > 0 && page.length <= kPageBytes && page.length % kPageUnit === 0 && page.subarray(-kPageUnit).some((byte) => byte !== 0);
}

// --- the blobs of a file, by their hash

class Pack {
  #blobs = new Map();
  #used = new Set();

  constructor(reader) {
    if (reader.remaining < kPackHeadBytes || !equalBytes(reader.bytes(kPackMagic.length), kPackMagic)) damaged("its blobs are not there");
    const count = reader.u32();
    if (count > reader.remaining / kPackEntryBytes) damaged("it has more entries than bytes");
    const entries = new ByteReader(reader.bytes(count * kPackEntryBytes), "the image");
    for (let i = 0; i < count; i++) {
      const hash = entries.bytes(kHashBytes);
      const storage = entries.u8();
      const bytes = reader.bytes(entries.u32());
      if ((storage !== kStorageRaw && storage !== kStorageZstd) || bytes.length === 0) damaged("a blob has an unknown storage");
      this.#blobs.set(hex(hash), { storage, bytes });
    }
    if (reader.remaining > 0) damaged("it has bytes that belong to nothing");
    if (this.#blobs.size !== count) damaged("a blob is there twice");
  }

  // The bytes of this hash, checked.
  async take(hash) {
    const name = hex(hash);
    const blob = this.#blobs.get(name);
    if (blob === undefined) refuse("unsupported", "the image holds only the changes since an earlier one: save a full image to continue it here");
    if (blob.storage === kStorageZstd) refuse("unsupported", "the image is compressed: save it without compression to continue it here");
    if (!this.#used.has(name) && !equalBytes(await sha256(blob.bytes), hash)) {
      refuse("corrupt", "a part of the image has another hash than it should; use another copy");
    }
    this.#used.add(name);
    return blob.bytes;
  }

  expectAllUsed() {
    if (this.#used.size !== this.#blobs.size) damaged("it has blobs that belong to nothing");
  }
}

// --- reading

function readHead(reader, fileBytes) {
  const head = { reserved: reader.u16(), rootBytes: reader.u32(), fileBytes: reader.u64(), id: reader.bytes(kHashBytes), moduleBytes: reader.u32() };
  if (head.reserved !== 0 || reader.u32() !== 0) damaged("a reserved field is not zero");
  if (head.fileBytes !== BigInt(fileBytes)) {
    refuse("corrupt", `the image is incomplete or has something added: it says it has ${head.fileBytes} bytes, the file has ${fileBytes}; use another copy`);
  }
  if (head.rootBytes > kMaxRootBytes || head.moduleBytes > kMaxModuleBytes) damaged("one of its parts is larger than the format allows");
  if (kHeadBytes + head.rootBytes + head.moduleBytes > fileBytes) damaged("its sizes contradict each other");
  return head;
}

function readGlobal(reader) {
  const type = kValueTypes.get(reader.u8()) ?? damaged("a global variable has an unknown type");
  const bytes = reader.bytes(16);
  if (bytes.subarray(kValueBytes[type]).some((byte) => byte !== 0)) damaged("a global variable is larger than its type");
  return { type, bytes };
}

// Either its bytes, or the hashes of its pieces.
function readStateName(reader, size) {
  if (size <= kMaxStateInRoot) return { size, bytes: reader.bytes(size), pieces: [] };
  return { size, bytes: null, pieces: Array.from({ length: Math.ceil(size / kStatePieceBytes) }, () => reader.bytes(kHashBytes)) };
}

function readNodeNames(reader, count, root) {
  const nodes = [];
  for (let i = 0; i < count; i++) {
    const node = { number: reader.u32(), hash: reader.bytes(kHashBytes) };
    if (i > 0 && node.number <= nodes[i - 1].number) damaged("its nodes are not in ascending order");
    const first = node.number * kPagesPerNode;
    const outside = first < kFirstFilePage ? first >= root.memoryPages : first - kFirstFilePage >= root.filePages;
    if (outside) damaged("a node lies outside the memory and the files");
    nodes.push(node);
  }
  return nodes;
}

function readRoot(bytes) {
  const reader = new ByteReader(bytes, "the image");
  const version = reader.u16();
  if (version !== kVersion) damaged("its root is of another version");
  const abiVersion = reader.u8();
  if (abiVersion !== kAbiVersion) {
    refuse("unsupported", `the image is of a module with ABI version ${abiVersion}, this program knows version ${kAbiVersion}`);
  }
  const root = { phase: reader.u8(), moduleHash: reader.bytes(kHashBytes), memoryPages: reader.u32(), filePages: reader.u32() };
  const [wasiBytes, jobBytes, globalCount, nodeCount] = Array.from({ length: 4 }, () => reader.u32());
  if (kPhases[root.phase] === undefined) damaged("it is in an unknown phase");
  if (root.memoryPages > kMaxMemoryPages) damaged("its memory is larger than 4 GiB");
  if (root.filePages > kMaxFilePages) damaged("its files are larger than 64 GiB");
  const tooLarge = wasiBytes > kMaxWasiStateBytes || jobBytes > kMaxJobStateBytes || globalCount > kMaxGlobals || nodeCount > kMaxNodes;
  if (tooLarge) damaged("one of its parts is larger than the format allows");
  root.wasiState = readStateName(reader, wasiBytes);
  root.jobState = readStateName(reader, jobBytes);
  root.globals = Array.from({ length: globalCount }, () => readGlobal(reader));
  root.nodes = readNodeNames(reader, nodeCount, root);
  if (reader.remaining > 0) damaged("its root has bytes that belong to nothing");
  return root;
}

async function readState(name, pack) {
  if (name.bytes !== null) return name.bytes;
  const writer = new ByteWriter(name.size);
  for (const piece of name.pieces) writer.bytes(await pack.take(piece));
  if (writer.size !== name.size) damaged("the size of a state contradicts its pieces");
  return writer.take();
}

async function readNode(node, root, pack) {
  const reader = new ByteReader(await pack.take(node.hash), "the image");
  const bitmap = reader.bytes(kPagesPerNode / 8);
  const pages = [];
  for (let place = 0; place < kPagesPerNode; place++) {
    if ((bitmap[place >> 3] & (1 << (place & 7))) === 0) continue;
    const index = node.number * kPagesPerNode + place;
    const outside = index < kFirstFilePage ? index >= root.memoryPages : index - kFirstFilePage >= root.filePages;
    if (outside) damaged("a page lies outside the memory and the files");
    const hash = reader.bytes(kHashBytes);
    const bytes = await pack.take(hash);
    if (!isStoredForm(bytes)) damaged("a page is too long, or ends with zeros");
    pages.push({ index, hash, bytes });
  }
  if (pages.length === 0 || reader.remaining > 0) damaged("a node has not as many hashes as pages");
  return pages;
}

// The content of an image file. Pages that are not listed are all zero, and so is the rest of one that is shorter than 64 KiB; byte fields
// are views of `file`.
export async function decodeImage(file) {
  const reader = new ByteReader(file, "the image");
  if (file.length < kMagic.length || !equalBytes(reader.bytes(kMagic.length), kMagic)) refuse("invalid", "this is not a Godwit image");
  const version = reader.u16();
  if (version !== kVersion) {
    refuse("unsupported", `the image has format version ${version}, this program reads version ${kVersion}; use the Godwit that wrote it`);
  }
  const head = readHead(reader, file.length);
  const rootBytes = reader.bytes(head.rootBytes);
  if (!equalBytes(await sha256(rootBytes), head.id)) damaged("its checksum does not match");
  const root = readRoot(rootBytes);
  const moduleWasm = reader.bytes(head.moduleBytes);
  if (moduleWasm.length > 0 && !equalBytes(await sha256(moduleWasm), root.moduleHash)) damaged("the module in it has another hash");
  const pack = new Pack(reader);
  const wasiState = await readState(root.wasiState, pack);
  const jobState = await readState(root.jobState, pack);
  const pages = [];
  for (const node of root.nodes) pages.push(...(await readNode(node, root, pack)));
  pack.expectAllUsed();
  const { moduleHash, memoryPages, filePages, globals } = root;
  return { moduleHash, phase: kPhases[root.phase], memoryPages, filePages, globals, wasiState, jobState, moduleWasm, pages };
}

// --- writing

function typeCode(type) {
  return [...kValueTypes].find(([, name]) => name === type)[0];
}

// Blobs in the order of the file, each once.
class BlobList {
  #listed = new Set();
  blobs = [];

  add(hash, bytes) {
    const name = hex(hash);
    if (this.#listed.has(name)) return;
    this.#listed.add(name);
    this.blobs.push({ hash, bytes });
  }

  get fileBytes() {
    return this.blobs.reduce((sum, blob) => sum + kPackEntryBytes + blob.bytes.length, kPackHeadBytes);
  }

  write(writer) {
    writer.bytes(kPackMagic);
    writer.u32(this.blobs.length);
    for (const { hash, bytes } of this.blobs) {
      writer.bytes(hash);
      writer.u8(kStorageRaw);
      writer.u32(bytes.length);
    }
    for (const { bytes } of this.blobs) writer.bytes(bytes);
  }
}

async function writeState(writer, state, blobs) {
  if (state.length <= kMaxStateInRoot) return writer.bytes(state);
  for (let at = 0; at < state.length; at += kStatePieceBytes) {
    const piece = state.subarray(at, at + kStatePieceBytes);
    const hash = await sha256(piece);
    writer.bytes(hash);
    blobs.add(hash, piece);
  }
}

function encodeNode(pages) {
  const bytes = new Uint8Array(kPagesPerNode / 8 + kHashBytes * pages.length);
  pages.forEach(({ index, hash }, i) => {
    const place = index % kPagesPerNode;
    bytes[place >> 3] |= 1 << (place & 7);
    bytes.set(hash, kPagesPerNode / 8 + kHashBytes * i);
  });
  return bytes;
}

async function makeNodes(pages, blobs) {
  const nodes = [];
  for (let first = 0; first < pages.length; ) {
    const number = Math.floor(pages[first].index / kPagesPerNode);
    let last = first + 1;
    while (last < pages.length && Math.floor(pages[last].index / kPagesPerNode) === number) last++;
    const bytes = encodeNode(pages.slice(first, last));
    const hash = await sha256(bytes);
    blobs.add(hash, bytes);
    nodes.push({ number, hash });
    first = last;
  }
  return nodes;
}

async function encodeRoot(content, blobs) {
  const writer = new ByteWriter();
  const states = new ByteWriter();
  await writeState(states, content.wasiState, blobs);
  await writeState(states, content.jobState, blobs);
  const nodes = await makeNodes(content.pages, blobs);
  writer.u16(kVersion);
  writer.u8(kAbiVersion);
  writer.u8(kPhases.indexOf(content.phase));
  writer.bytes(content.moduleHash);
  for (const count of [content.memoryPages, content.filePages, content.wasiState.length, content.jobState.length]) writer.u32(count);
  writer.u32(content.globals.length);
  writer.u32(nodes.length);
  writer.bytes(states.take());
  for (const { type, bytes } of content.globals) {
    writer.u8(typeCode(type));
    writer.bytes(bytes);
  }
  for (const { number, hash } of nodes) {
    writer.u32(number);
    writer.bytes(hash);
  }
  return writer.take();
}

// The file of an image; `content` as decodeImage() gives it.
export async function encodeImage(content) {
  const blobs = new BlobList();
  const root = await encodeRoot(content, blobs);
  for (const { hash, bytes } of content.pages) blobs.add(hash, bytes);
  const fileBytes = kHeadBytes + root.length + content.moduleWasm.length + blobs.fileBytes;
  const writer = new ByteWriter(fileBytes);
  writer.bytes(kMagic);
  writer.u16(kVersion);
  writer.u16(0);
  writer.u32(root.length);
  writer.u64(BigInt(fileBytes));
  writer.bytes(await sha256(root));
  writer.u32(content.moduleWasm.length);
  writer.u32(0);
  writer.bytes(root);
  writer.bytes(content.moduleWasm);
  blobs.write(writer);
  return writer.take();
}
