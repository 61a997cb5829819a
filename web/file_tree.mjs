// The files of one guest: a tree of its own in memory, with no way to any other (src/isolate/files/file_tree.h and path_walk.h are the same in C++).
//
// Names and paths are strings with one character per byte, since nothing says that they are UTF-8. Inodes, cookies and times are BigInts.
// An operation either happens or throws a Refusal and changes nothing.
import { FileContent } from "./file_content.mjs";
import { deny, Errno } from "./wasi_abi.mjs";

export const NodeType = Object.freeze({ file: 0, directory: 1, symlink: 2 });
export const kRoot = 1n;
export const kSelfCookie = 1n;
export const kParentCookie = 2n;
export const kFirstCookie = 3n;
const kFirstWallTime = 10n ** 15n; // in nanoseconds since 1970: clocks of trees before it have counted changes only
export const Limit = Object.freeze({ nodes: 65536, names: 65536, nameBytes: 255, pathBytes: 4096, targetBytes: 2 ** 24, chunks: 2 ** 18, links: 40 });

export function makeDirectory(parent = 0n) {
  // By name, in the order of the cookies: a name that is replaced keeps its place.
  return { type: NodeType.directory, parent, nextCookie: kFirstCookie, entries: new Map() };
}

export function makeFile() {
  return { type: NodeType.file, content: new FileContent() };
}

export function makeSymlink(target) {
  return { type: NodeType.symlink, target };
}

export function sizeOf(node) {
  if (node.type === NodeType.symlink) return node.target.length;
  if (node.type === NodeType.directory) return 0;
  return node.content?.size ?? node.input.size;
}

function withDefaults(node) {
  return { readOnly: false, accessed: 0n, modified: 0n, changed: 0n, names: 0, opens: 0, ...node };
}

export class FileTree {
  nodes = new Map([[kRoot, { ...withDefaults(makeDirectory(kRoot)), names: 1 }]]);
  nextInode = kRoot + 1n;
  clock = 0n;
  names = 0;
  targetBytes = 0;
  pages = 0;
  maxPages = 2 ** 14; // 1 GiB

  node(inode) {
    return this.nodes.get(inode);
  }

  isDirectory(inode) {
    return this.node(inode).type === NodeType.directory;
  }

  // 0n: there is none.
  lookup(directory, name) {
    return this.node(directory).entries.get(name)?.node ?? 0n;
  }

  get knowsTime() {
    return this.clock >= kFirstWallTime;
  }

  // Changes that came before the first time count as made just now.
  onWallClock(nanoseconds) {
    if (!this.knowsTime && nanoseconds >= kFirstWallTime) {
      const step = nanoseconds - this.clock;
      for (const node of this.nodes.values()) {
        if (node.readOnly) continue; // inputs have times of their own
        node.accessed += step;
        node.modified += step;
        node.changed += step;
      }
    }
    if (nanoseconds > this.clock) this.clock = nanoseconds;
  }

  make(directory, name, content) {
    const parent = this.node(directory);
    const targetBytes = this.targetBytes + (content.target?.length ?? 0);
    if (parent.readOnly) deny(Errno.rofs);
    if (this.nodes.size >= Limit.nodes || this.names >= Limit.names || targetBytes > Limit.targetBytes) deny(Errno.nospc);
    this.targetBytes = targetBytes;
    const now = this.#tick();
    const inode = this.nextInode++;
    this.nodes.set(inode, { ...withDefaults(content), accessed: now, modified: now, changed: now });
    this.#addName(directory, name, inode);
    parent.modified = parent.changed = now;
    return inode;
  }

  link(inode, directory, name) {
    if (this.isDirectory(inode)) deny(Errno.perm);
    if (this.node(inode).readOnly) deny(Errno.xdev); // as between file systems
    if (this.node(directory).readOnly) deny(Errno.rofs);
    if (this.names >= Limit.names) deny(Errno.nospc);
    this.#addName(directory, name, inode);
    this.#touch(directory);
    this.node(inode).changed = this.clock;
  }

  unlink(directory, name) {
    const inode = this.lookup(directory, name);
    if (inode === 0n) deny(Errno.noent);
    if (this.isDirectory(inode)) deny(Errno.isdir);
    if (this.node(inode).readOnly || this.node(directory).readOnly) deny(Errno.rofs);
    this.#dropName(directory, name);
    this.#touch(directory);
    this.node(inode).changed = this.clock;
    this.#dropIfUnused(inode);
  }

  removeDirectory(directory, name) {
    const inode = this.lookup(directory, name);
    if (inode === 0n) deny(Errno.noent);
    if (!this.isDirectory(inode)) deny(Errno.notdir);
    if (this.node(inode).readOnly || this.node(directory).readOnly) deny(Errno.rofs);
    if (this.node(inode).entries.size > 0) deny(Errno.notempty);
    this.#dropName(directory, name);
    this.#touch(directory);
    this.#dropIfUnused(inode);
  }

  rename(from, oldName, to, newName) {
    const moved = this.lookup(from, oldName);
    const replaced = this.lookup(to, newName);
    if (moved === 0n) deny(Errno.noent);
    if ([moved, from, to].some((inode) => this.node(inode).readOnly)) deny(Errno.rofs);
    if (this.isDirectory(moved) && this.#isInside(to, moved)) deny(Errno.inval);
    if (moved === replaced) return;
    if (replaced !== 0n) this.#checkReplaced(moved, replaced);
    this.#dropName(from, oldName);
    if (replaced === 0n) {
      this.#addName(to, newName, moved);
    } else {
      this.node(to).entries.get(newName).node = moved;
      this.node(moved).names++;
      this.node(replaced).names--;
      if (this.isDirectory(moved)) this.node(moved).parent = to;
      if (this.isDirectory(replaced)) this.node(replaced).parent = 0n;
    }
    this.#touch(from);
    this.#touch(to);
    this.node(moved).changed = this.clock;
    if (replaced !== 0n) this.#dropIfUnused(replaced);
  }

  resize(inode, size) {
    const node = this.node(inode);
    if (node.readOnly) deny(Errno.rofs);
    const more = Number(FileContent.pagesFor(Number(size))) - node.content.pages.length;
    if (more > 0 && more > this.maxPages - this.pages) deny(Errno.nospc);
    node.content.resize(Number(size));
    this.pages += more;
    this.#touch(inode);
  }

  write(inode, offset, bytes) {
    const { content } = this.node(inode);
    if (offset + bytes.length > content.size) this.resize(inode, offset + bytes.length);
    content.write(offset, bytes);
    this.#touch(inode);
  }

  // undefined: as it is.
  setTimes(inode, accessed, modified) {
    const node = this.node(inode);
    node.accessed = accessed ?? node.accessed;
    node.modified = modified ?? node.modified;
    node.changed = this.#tick();
  }

  open(inode) {
    this.node(inode).opens++;
  }

  close(inode) {
    this.node(inode).opens--;
    this.#dropIfUnused(inode);
  }

  // The content of scratch files in the order in which their pages are numbered in an image.
  contents() {
    const inodes = [...this.nodes.keys()].sort((a, b) => (a < b ? -1 : 1));
    return inodes.map((inode) => this.node(inode).content).filter((content) => content !== undefined);
  }

  #tick() {
    return ++this.clock;
  }

  #touch(inode) {
    const node = this.node(inode);
    node.modified = node.changed = this.#tick();
  }

  #addName(directory, name, inode) {
    const parent = this.node(directory);
    parent.entries.set(name, { cookie: parent.nextCookie++, node: inode });
    this.names++;
    const node = this.node(inode);
    node.names++;
    if (node.type === NodeType.directory) node.parent = directory;
  }

  #dropName(directory, name) {
    const parent = this.node(directory);
    const node = this.node(parent.entries.get(name).node);
    parent.entries.delete(name);
    this.names--;
    node.names--;
    if (node.type === NodeType.directory) node.parent = 0n;
  }

  #dropIfUnused(inode) {
    const node = this.node(inode);
    if (node.names > 0 || node.opens > 0) return;
    this.pages -= node.content?.pages.length ?? 0;
    this.targetBytes -= node.target?.length ?? 0;
    this.nodes.delete(inode);
  }

  #isInside(inode, ancestor) {
    for (; inode !== kRoot; inode = this.node(inode).parent) if (inode === ancestor) return true;
    return ancestor === kRoot;
  }

  #checkReplaced(moved, replaced) {
    const target = this.node(replaced);
    const movesDirectory = this.isDirectory(moved);
    if (target.type !== NodeType.directory) {
      if (movesDirectory) deny(Errno.notdir);
      if (target.readOnly) deny(Errno.rofs);
      return;
    }
    if (!movesDirectory) deny(Errno.isdir);
    if (target.readOnly) deny(Errno.rofs);
    if (target.entries.size > 0) deny(Errno.notempty);
  }
}

function splitPath(path) {
  const names = path.split("/").filter((name) => name !== "");
  if (path.endsWith("/")) names.push("."); // a link to "a/" needs a directory
  return names;
}

// Errno.perm: the path leads out of the directory it starts from. From the root it cannot.
function follow(tree, start, path, followLast) {
  const absolute = () => (start === kRoot ? kRoot : deny(Errno.perm));
  let at = path.startsWith("/") ? absolute() : start;
  let todo = splitPath(path);
  for (let links = 0; todo.length > 0; ) {
    const name = todo.shift();
    const directory = tree.node(at);
    if (directory.type !== NodeType.directory) deny(Errno.notdir);
    if (directory.parent === 0n) deny(Errno.noent); // removed while open
    if (name === ".") continue;
    if (name === "..") {
      if (at === start && start !== kRoot) deny(Errno.perm);
      at = directory.parent;
      continue;
    }
    if (name.length > Limit.nameBytes) deny(Errno.nametoolong);
    const child = tree.lookup(at, name);
    const target = child === 0n ? undefined : tree.node(child).target;
    const last = todo.length === 0;
    if (target !== undefined && (!last || followLast)) {
      if (++links > Limit.links) deny(Errno.loop);
      if (target.startsWith("/")) at = absolute();
      todo = [...splitPath(target), ...todo];
    } else if (last) {
      return { directory: at, name, node: child };
    } else {
      at = child === 0n ? deny(Errno.noent) : child;
    }
  }
  return { directory: at, name: "", node: at };
}

// Where a path leads: {directory, name, node, wantsDirectory}; node 0n: there is nothing yet; name "": it ends in "/", "." or "..".
// lastLink: "follow", "keep", or "never" even where a slash follows.
export function walk(tree, start, path, lastLink) {
  if (path === "") deny(Errno.noent);
  if (path.length >= Limit.pathBytes) deny(Errno.nametoolong);
  if (path.includes("\0")) deny(Errno.inval);
  const wantsDirectory = path.endsWith("/");
  const names = path.replace(/\/+$/, "") || "/";
  const place = follow(tree, start, names, lastLink === "follow" || (wantsDirectory && lastLink === "keep"));
  if (wantsDirectory && place.node !== 0n && !tree.isDirectory(place.node)) deny(Errno.notdir);
  return { ...place, wantsDirectory };
}
