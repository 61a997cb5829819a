// A file tree and the open descriptors as bytes, as in docs/image-format.md (src/isolate/files/file_tree_codec.h is the same in C++).
import { refuse } from "./errors.mjs";
import { FileTree, kFirstCookie, kRoot, Limit, makeDirectory, makeFile, makeSymlink, NodeType } from "./file_tree.mjs";
import { kAllFdFlags, kMaxOffset, kRightsOfDirectories, Right } from "./wasi_abi.mjs";

export const kChunkBytes = 2 ** 20;
export const Stream = Object.freeze({ input: 0, output: 1, errors: 2, node: 3 });
export const kMaxDescriptors = 1024;
const kMaxFilePages = 2 ** 20;
const kPageBytes = 65536;

function damaged(what) {
  return refuse("corrupt", `the files of the image are damaged: ${what}; use another copy`);
}

export function bytesToName(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

export function nameToBytes(name) {
  return Uint8Array.from(name, (character) => character.charCodeAt(0));
}

function readName(reader, limit) {
  const length = reader.u32();
  if (length > limit) damaged("a name or link is too long");
  return bytesToName(reader.bytes(length));
}

function writeName(writer, name) {
  writer.u32(name.length);
  writer.bytes(nameToBytes(name));
}

function readInput(reader) {
  const size = reader.u64();
  const chunks = (size + BigInt(kChunkBytes) - 1n) / BigInt(kChunkBytes);
  if (chunks > BigInt(Limit.chunks)) damaged("an input file is too large");
  return { type: NodeType.file, input: { size: Number(size), chunks: Array.from({ length: Number(chunks) }, () => reader.bytes(32).slice()) } };
}

function readScratch(reader, tree) {
  const size = reader.u64();
  if (size > BigInt((kMaxFilePages - tree.pages) * kPageBytes)) damaged("they are too large");
  const file = makeFile();
  file.content.resize(Number(size));
  tree.pages += file.content.pages.length;
  return file;
}

function readSymlink(reader, tree) {
  const link = makeSymlink(readName(reader, Limit.pathBytes - 1));
  tree.targetBytes += link.target.length;
  if (link.target === "" || link.target.includes("\0") || tree.targetBytes > Limit.targetBytes) damaged("a link leads nowhere");
  return link;
}

function readDirectory(reader, tree) {
  const directory = makeDirectory(reader.u64());
  directory.nextCookie = reader.u64();
  const count = reader.u32();
  tree.names += count;
  if (tree.names > Limit.names || directory.nextCookie < kFirstCookie) damaged("a directory counts wrongly");
  let least = kFirstCookie;
  for (let i = 0; i < count; i++) {
    const cookie = reader.u64();
    const node = reader.u64();
    const name = readName(reader, Limit.nameBytes);
    const proper = name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && !directory.entries.has(name);
    if (cookie < least || cookie >= directory.nextCookie || !proper) damaged("a directory is out of order");
    directory.entries.set(name, { cookie, node });
    least = cookie + 1n;
  }
  return directory;
}

function readNode(reader, tree, above) {
  const inode = reader.u64();
  const type = reader.u8();
  const access = reader.u8();
  if (inode <= above || inode >= tree.nextInode || type > NodeType.symlink || access > 1) damaged("one is of no kind that is known");
  const times = { accessed: reader.u64(), modified: reader.u64(), changed: reader.u64() };
  const readers = { [NodeType.directory]: readDirectory, [NodeType.symlink]: readSymlink, [NodeType.file]: access === 1 ? readInput : readScratch };
  tree.nodes.set(inode, { ...readers[type](reader, tree), ...times, readOnly: access === 1, names: 0, opens: 0 });
  return inode;
}

function countNames(tree) {
  tree.node(kRoot).names = 1;
  for (const [inode, directory] of tree.nodes) {
    if (directory.type !== NodeType.directory) continue;
    for (const { node } of directory.entries.values()) {
      const child = tree.node(node) ?? damaged("a name leads nowhere");
      child.names++;
      if (child.type === NodeType.directory && (child.names > 1 || child.parent !== inode)) damaged("a directory is in two places");
    }
  }
}

// All directories that have a name hang together below the root; the others are empty and know no parent.
function checkDirectories(tree) {
  const reached = new Set([kRoot]);
  for (const inode of reached) {
    for (const { node } of tree.node(inode).entries.values()) if (tree.isDirectory(node)) reached.add(node);
  }
  for (const [inode, node] of tree.nodes) {
    if (node.type !== NodeType.directory || (reached.has(inode) && inode !== kRoot)) continue;
    const sound = inode === kRoot ? node.parent === kRoot : node.names === 0 && node.parent === 0n && node.entries.size === 0;
    if (!sound) damaged("a directory is not where it should be");
  }
}

export function readFileTree(reader) {
  const tree = new FileTree();
  tree.nodes.clear();
  tree.clock = reader.u64();
  tree.nextInode = reader.u64();
  const count = reader.u32();
  if (count > Limit.nodes) damaged("there are too many");
  let above = 0n;
  for (let i = 0; i < count; i++) above = readNode(reader, tree, above);
  if (tree.node(kRoot)?.type !== NodeType.directory) damaged("there is no root");
  const chunks = [...tree.nodes.values()].reduce((sum, node) => sum + (node.input?.chunks.length ?? 0), 0);
  if (chunks > Limit.chunks) damaged("the input files are too large");
  countNames(tree);
  checkDirectories(tree);
  return tree;
}

function writeContent(writer, node) {
  if (node.type === NodeType.symlink) return writeName(writer, node.target);
  if (node.type === NodeType.file) {
    writer.u64(BigInt(node.content?.size ?? node.input.size));
    for (const chunk of node.input?.chunks ?? []) writer.bytes(chunk);
    return undefined;
  }
  writer.u64(node.parent);
  writer.u64(node.nextCookie);
  writer.u32(node.entries.size);
  for (const [name, { cookie, node: child }] of node.entries) {
    writer.u64(cookie);
    writer.u64(child);
    writeName(writer, name);
  }
  return undefined;
}

export function writeFileTree(writer, tree) {
  writer.u64(tree.clock);
  writer.u64(tree.nextInode);
  writer.u32(tree.nodes.size);
  for (const [inode, node] of [...tree.nodes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    writer.u64(inode);
    writer.u8(node.type);
    writer.u8(node.readOnly ? 1 : 0);
    for (const time of [node.accessed, node.modified, node.changed]) writer.u64(time);
    writeContent(writer, node);
  }
}

// The standard streams, and the root as 3.
export function standardDescriptors(tree) {
  const stream = (kind, right) => ({ kind, preopened: false, flags: 0, rights: right | Right.poll | Right.filestatGet, inheriting: 0n, node: 0n, offset: 0n });
  tree.open(kRoot);
  const root = { kind: Stream.node, preopened: true, flags: 0, rights: kRightsOfDirectories, inheriting: Right.all, node: kRoot, offset: 0n };
  return new Map([
    [0, stream(Stream.input, Right.read)],
    [1, stream(Stream.output, Right.write)],
    [2, stream(Stream.errors, Right.write)],
    [3, root],
  ]);
}

function readDescriptor(reader, tree) {
  const kind = reader.u8();
  const preopened = reader.u8();
  const descriptor = {
    kind,
    preopened: preopened === 1,
    flags: reader.u16(),
    rights: reader.u64(),
    inheriting: reader.u64(),
    node: reader.u64(),
    offset: reader.u64(),
  };
  const { flags, node, offset } = descriptor;
  const fits = kind === Stream.node ? tree.node(node) !== undefined : node === 0n && offset === 0n && preopened === 0;
  if (kind > Stream.node || preopened > 1 || flags > kAllFdFlags || offset > kMaxOffset || !fits) {
    refuse("corrupt", "a descriptor in the image is not one that can be open; use another copy");
  }
  return descriptor;
}

export function readDescriptors(reader, tree) {
  const descriptors = new Map();
  const count = reader.u32();
  let least = 0;
  for (let i = 0; i < count; i++) {
    const number = reader.u32();
    const descriptor = readDescriptor(reader, tree);
    if (number < least || number >= kMaxDescriptors) refuse("corrupt", "the descriptors in the image are not in order; use another copy");
    if (descriptor.kind === Stream.node) tree.open(descriptor.node);
    descriptors.set(number, descriptor);
    least = number + 1;
  }
  for (const node of tree.nodes.values()) {
    if (node.names === 0 && node.opens === 0) damaged("a node has no name and is not open");
  }
  return descriptors;
}

export function writeDescriptors(writer, descriptors) {
  writer.u32(descriptors.size);
  for (const [number, descriptor] of [...descriptors].sort(([a], [b]) => a - b)) {
    writer.u32(number);
    writer.u8(descriptor.kind);
    writer.u8(descriptor.preopened ? 1 : 0);
    writer.u16(descriptor.flags);
    for (const field of [descriptor.rights, descriptor.inheriting, descriptor.node, descriptor.offset]) writer.u64(field);
  }
}
