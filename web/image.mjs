// The image of a suspended isolate, byte by byte as in docs/image-format.md (src/wire/image.h is the same in C++).
//
// Decoding checks sizes, order and every hash before anything is used. Compressed and incremental images are refused with a sentence.
import { ByteReader, ByteWriter, equalBytes, sha256 } from "./bytes.mjs";
import { refuse } from "./errors.mjs";
import { kValueTypes } from "./module_info.mjs";

export const kPageBytes = 65536;
export const kFirstFilePage = 65536;

const kMagic = new TextEncoder().encode("GWIMAGE\0");
const kVersion = 3;
const kAbiVersion = 2;
const kIdOffset = 24;
const kHashBytes = 32;
const kFixedBytes = 152;
const kGlobalBytes = 17;
const kPageEntryBytes = 44;
const kHasParent = 1;
const kHasModule = 2;
const kPhases = ["fresh", "suspended"];
const kStorageElsewhere = 0;
const kStorageRaw = 1;
const kStorageZstd = 2;
const kMaxMemoryPages = 65536;
const kMaxGlobals = 4096;
const kMaxFilePages = 2 ** 20;
const kMaxWasiStateBytes = 64 * 2 ** 20;
const kMaxJobStateBytes = 16 * 2 ** 20;
const kMaxModuleBytes = 256 * 2 ** 20;
const kValueBytes = { i32: 4, f32: 4, i64: 8, f64: 8, v128: 16 };

function damaged(what) {
  return refuse("corrupt", `the image is damaged: ${what}; use another copy`);
}

// Names the image: everything before the payload but the id itself.
async function idOf(metadata) {
  const covered = new Uint8Array(metadata.length - kHashBytes);
  covered.set(metadata.subarray(0, kIdOffset));
  covered.set(metadata.subarray(kIdOffset + kHashBytes), kIdOffset);
  return sha256(covered);
}

function readHead(reader) {
  const head = {
    flags: reader.u16(),
    metadataBytes: reader.u32(),
    fileBytes: reader.u64(),
    id: reader.bytes(kHashBytes),
    moduleHash: reader.bytes(kHashBytes),
    abiVersion: reader.u8(),
    phase: reader.u8(),
    reservedHalf: reader.u16(),
    memoryPages: reader.u32(),
    filePages: reader.u32(),
    jobBytes: reader.u32(),
    parent: reader.bytes(kHashBytes),
    moduleBytes: reader.u32(),
    wasiBytes: reader.u32(),
    globalCount: reader.u32(),
    pageCount: reader.u32(),
  };
  const known = (head.flags & ~(kHasParent | kHasModule)) === 0;
  if (!known || head.reservedHalf !== 0) damaged("a reserved field is not zero");
  return head;
}

function checkSizes(head, fileBytes) {
  if (head.fileBytes !== BigInt(fileBytes)) {
    refuse("corrupt", `the image is incomplete or has something added: it says it has ${head.fileBytes} bytes, the file has ${fileBytes}; use another copy`);
  }
  const tooLarge =
    head.wasiBytes > kMaxWasiStateBytes ||
    head.jobBytes > kMaxJobStateBytes ||
    head.globalCount > kMaxGlobals ||
    head.pageCount > kMaxMemoryPages + kMaxFilePages ||
    head.moduleBytes > kMaxModuleBytes;
  if (tooLarge) damaged("one of its parts is larger than the format allows");
  const expected = kFixedBytes + head.wasiBytes + head.jobBytes + kGlobalBytes * head.globalCount + kPageEntryBytes * head.pageCount;
  if (head.metadataBytes !== expected || expected > fileBytes) damaged("its sizes contradict each other");
}

// What the head says, beyond its sizes, that this library can or cannot continue.
function checkKind(head) {
  if (head.abiVersion !== kAbiVersion) {
    refuse("unsupported", `the image is of a module with ABI version ${head.abiVersion}, this program knows version ${kAbiVersion}`);
  }
  if (kPhases[head.phase] === undefined) damaged("it is in an unknown phase");
  if (head.memoryPages > kMaxMemoryPages) damaged("its memory is larger than 4 GiB");
  if (head.filePages > kMaxFilePages) damaged("its files are larger than 64 GiB");
  if (((head.flags & kHasModule) !== 0) !== (head.moduleBytes !== 0)) damaged("its flags contradict its sizes");
  if ((head.flags & kHasParent) !== 0) {
    refuse("unsupported", "the image holds only the changes since an earlier one: save a full image to continue it here");
  }
}

function readGlobal(reader) {
  const type = kValueTypes.get(reader.u8()) ?? damaged("a global variable has an unknown type");
  const bytes = reader.bytes(16);
  if (bytes.subarray(kValueBytes[type]).some((byte) => byte !== 0)) damaged("a global variable is larger than its type");
  return { type, bytes };
}

async function readPage(entries, payload, above) {
  const index = entries.u32();
  const storage = entries.u32();
  const storedBytes = entries.u32();
  const hash = entries.bytes(kHashBytes);
  if (index <= above.previous) damaged("its pages are not in ascending order");
  const outside = index < kFirstFilePage ? index >= above.memoryPages : index - kFirstFilePage >= above.filePages;
  if (outside) damaged("a page lies outside the memory and the files");
  if (storage === kStorageElsewhere) refuse("unsupported", "the image leaves pages to other images: save a full image to continue it here");
  if (storage === kStorageZstd) refuse("unsupported", "the image is compressed: save it without compression to continue it here");
  if (storage !== kStorageRaw || storedBytes !== kPageBytes) damaged("a page has not 65536 bytes");
  const bytes = payload.bytes(storedBytes);
  if (!equalBytes(await sha256(bytes), hash)) refuse("corrupt", `page ${index} of the image has another hash than it should; use another copy`);
  return { index, hash, bytes };
}

async function readPages(entries, payload, head) {
  const pages = [];
  let previous = -1;
  for (let i = 0; i < head.pageCount; i++) {
    const page = await readPage(entries, payload, { previous, memoryPages: head.memoryPages, filePages: head.filePages });
    previous = page.index;
    pages.push(page);
  }
  return pages;
}

// The content of an image file. Pages that are not listed are all zero; byte fields are views of `file`.
export async function decodeImage(file) {
  const reader = new ByteReader(file, "the image");
  if (file.length < kMagic.length || !equalBytes(reader.bytes(kMagic.length), kMagic)) refuse("invalid", "this is not a Godwit image");
  const version = reader.u16();
  if (version !== kVersion) {
    refuse("unsupported", `the image has format version ${version}, this program reads version ${kVersion}; use the Godwit that wrote it`);
  }
  const head = readHead(reader);
  checkSizes(head, file.length);
  if (!equalBytes(await idOf(file.subarray(0, head.metadataBytes)), head.id)) damaged("its checksum does not match");
  checkKind(head);

  const payload = new ByteReader(file.subarray(head.metadataBytes), "the image");
  const wasiState = reader.bytes(head.wasiBytes);
  const jobState = reader.bytes(head.jobBytes);
  const moduleWasm = payload.bytes(head.moduleBytes);
  if (moduleWasm.length > 0 && !equalBytes(await sha256(moduleWasm), head.moduleHash)) damaged("the module in it has another hash");
  const globals = Array.from({ length: head.globalCount }, () => readGlobal(reader));
  const pages = await readPages(reader, payload, head);
  if (payload.remaining > 0) damaged("it has bytes that belong to nothing");
  const { moduleHash, memoryPages, filePages } = head;
  return { moduleHash, phase: kPhases[head.phase], memoryPages, filePages, globals, wasiState, jobState, moduleWasm, pages };
}

function writeHead(writer, content, sizes) {
  writer.bytes(kMagic);
  writer.u16(kVersion);
  writer.u16(content.moduleWasm.length > 0 ? kHasModule : 0);
  writer.u32(sizes.metadata);
  writer.u64(BigInt(sizes.metadata + sizes.payload));
  writer.bytes(new Uint8Array(kHashBytes)); // the id, known when all the rest is written
  writer.bytes(content.moduleHash);
  writer.u8(kAbiVersion);
  writer.u8(kPhases.indexOf(content.phase));
  writer.u16(0);
  writer.u32(content.memoryPages);
  writer.u32(content.filePages);
  writer.u32(content.jobState.length);
  writer.bytes(new Uint8Array(kHashBytes)); // no parent
  writer.u32(content.moduleWasm.length);
  writer.u32(content.wasiState.length);
  writer.u32(content.globals.length);
  writer.u32(content.pages.length);
}

function typeCode(type) {
  return [...kValueTypes].find(([, name]) => name === type)[0];
}

// The file of an image; `content` as decodeImage() gives it.
export async function encodeImage(content) {
  const metadata =
    kFixedBytes +
    content.wasiState.length +
    content.jobState.length +
    kGlobalBytes * content.globals.length +
    kPageEntryBytes * content.pages.length;
  const payload = content.moduleWasm.length + kPageBytes * content.pages.length;
  const writer = new ByteWriter(metadata + payload);
  writeHead(writer, content, { metadata, payload });
  writer.bytes(content.wasiState);
  writer.bytes(content.jobState);
  for (const { type, bytes } of content.globals) {
    writer.u8(typeCode(type));
    writer.bytes(bytes);
  }
  for (const page of content.pages) {
    writer.u32(page.index);
    writer.u32(kStorageRaw);
    writer.u32(kPageBytes);
    writer.bytes(page.hash);
  }
  writer.bytes(content.moduleWasm);
  for (const page of content.pages) writer.bytes(page.bytes);
  const file = writer.take();
  file.set(await idOf(file.subarray(0, metadata)), kIdOffset);
  return file;
}
