// The calls of WASI preview 1 about files and descriptors (src/isolate/wasi/wasi_file_io.cc, wasi_descriptors.cc and wasi_paths.cc are the same in C++).
//
// A call returns its errno or throws a Refusal. One that needs a part of an input file that is not here parks with `state.parked` set to chunk.
import { bytesToName, kChunkBytes, kMaxDescriptors, nameToBytes, Stream } from "./file_tree_codec.mjs";
import { kParentCookie, kSelfCookie, makeDirectory, makeFile, makeSymlink, kRoot, NodeType, sizeOf, walk } from "./file_tree.mjs";
import { deny, eachPart, Errno, FileType, kAllFdFlags, kAppendFlag, kMaxOffset, kRightsOfDirectories, Right } from "./wasi_abi.mjs";
import { ParkedCall } from "./wasi_state.mjs";

const kPreopenName = "/";
const kStatBytes = 64;
const kDirentBytes = 24;
const OpenFlag = Object.freeze({ create: 1, directory: 2, exclusive: 4, truncate: 8 });
const TimeFlag = Object.freeze({ accessed: 1, accessedNow: 2, modified: 4, modifiedNow: 8 });
const kFileTypes = [FileType.regularFile, FileType.directory, FileType.symbolicLink];

// A right that POSIX knows as the mode of open(2) is missing with the errno of POSIX.
function denied(missing) {
  if ((missing & (Right.read | Right.write | Right.readdir | Right.allocate)) !== 0n) return Errno.badf;
  return (missing & Right.setSize) !== 0n ? Errno.inval : Errno.notcapable;
}

const lastLink = (lookup) => ((lookup & 1) !== 0 ? "follow" : "keep");
const u64 = (value) => BigInt.asUintN(64, value);

export class WasiFiles {
  #state;
  #memory;
  #realtime;
  #park;
  #chunks;

  // memory(): the guest's memory during this call. realtime(): nanoseconds, which the guest learns. park(call). chunks: see ChunkStore.
  constructor(state, { memory, realtime, park, chunks }) {
    this.#state = state;
    this.#memory = memory;
    this.#realtime = realtime;
    this.#park = park;
    this.#chunks = chunks;
  }

  get #files() {
    return this.#state.files;
  }

  // Open, and with these rights.
  descriptor(fd, rights) {
    const found = this.#state.descriptors.get(fd >>> 0) ?? deny(Errno.badf);
    const missing = rights & ~found.rights;
    return missing === 0n ? found : deny(denied(missing));
  }

  #node(fd, rights, onStream) {
    const found = this.#state.descriptors.get(fd >>> 0) ?? deny(Errno.badf);
    return found.kind === Stream.node ? this.descriptor(fd, rights) : deny(onStream);
  }

  #file(fd, rights, onStream) {
    const known = this.#state.descriptors.get(fd >>> 0);
    if (known?.kind === Stream.node && this.#files.isDirectory(known.node)) deny(Errno.badf);
    return this.#node(fd, rights, onStream);
  }

  #text(address, length) {
    return bytesToName(this.#memory().bytes(address, length));
  }

  #place(fd, rights, [path, length], link) {
    const { node } = this.#node(fd, rights, Errno.notdir);
    return walk(this.#files, node, this.#text(path, length), link);
  }

  #newPlace(fd, rights, path) {
    const place = this.#place(fd, rights, path, "never");
    return place.node === 0n ? place : deny(Errno.exist);
  }

  #existing(place) {
    return place.node === 0n ? deny(Errno.noent) : place.node;
  }

  // --- bytes of files

  read(descriptor, list, count, out, at = null) {
    const node = this.#files.node(descriptor.node);
    const memory = this.#memory();
    const { parts, size: room } = memory.buffers(list, count);
    if (node.type === NodeType.directory) return Errno.isdir;
    memory.view(out, 4);
    const offset = at ?? descriptor.offset;
    const size = BigInt(sizeOf(node));
    const left = offset < size ? size - offset : 0n;
    const moved = left < BigInt(room) ? Number(left) : room;
    if (node.input === undefined) {
      eachPart(parts, 0, moved, (position, part) => node.content.read(Number(offset) + position, part));
    } else if (!this.#copyInput(node.input, parts, Number(offset), moved)) {
      return this.#park(ParkedCall.chunk);
    }
    this.#complete();
    if (at === null) descriptor.offset += BigInt(moved);
    memory.setU32(out, moved);
    return Errno.success;
  }

  // False: a chunk is not here yet. What has come is in the guest's memory then, and is not fetched again.
  #copyInput(file, parts, offset, wanted) {
    const state = this.#state;
    if (state.progress > BigInt(wanted)) deny(Errno.inval); // only an image made by hand gets here
    for (let done = Number(state.progress); done < wanted; done = Number(state.progress)) {
      const index = Math.floor((offset + done) / kChunkBytes);
      const start = index * kChunkBytes;
      const chunk = this.#chunks.find(file.chunks[index], Math.min(kChunkBytes, file.size - start));
      if (chunk === undefined) return false;
      const last = Math.min(wanted, start + chunk.length - offset);
      eachPart(parts, done, last, (position, part) => {
        const from = offset + position - start;
        part.set(chunk.subarray(from, from + part.length));
      });
      state.progress = BigInt(last);
    }
    return true;
  }

  write(descriptor, list, count, out, at = null) {
    const node = this.#files.node(descriptor.node);
    const memory = this.#memory();
    const { parts, size: bytes } = memory.buffers(list, count);
    if (node.type === NodeType.directory) return Errno.badf;
    if (node.readOnly) return Errno.rofs;
    memory.view(out, 4);
    const appends = (descriptor.flags & kAppendFlag) !== 0;
    const offset = appends ? BigInt(sizeOf(node)) : (at ?? descriptor.offset);
    const end = offset + BigInt(bytes);
    if (end > kMaxOffset) return Errno.fbig;
    if (bytes > 0 && end > BigInt(sizeOf(node))) this.#files.resize(descriptor.node, end);
    eachPart(parts, 0, bytes, (position, part) => this.#files.write(descriptor.node, Number(offset) + position, part));
    if (at === null) descriptor.offset = end;
    memory.setU32(out, bytes);
    return Errno.success;
  }

  #complete() {
    this.#state.parked = ParkedCall.none;
    this.#state.progress = 0n;
  }

  #at(fd, right, offset, transfer) {
    const descriptor = this.#node(fd, right, Errno.spipe);
    return u64(offset) > kMaxOffset ? Errno.inval : transfer(descriptor, u64(offset));
  }

  #seek(fd, distance, whence, out) {
    const descriptor = this.#file(fd, Right.seek, Errno.spipe);
    if (whence >>> 0 > 2) return Errno.inval;
    const base = [0n, descriptor.offset, BigInt(sizeOf(this.#files.node(descriptor.node)))][whence];
    const target = base + BigInt.asIntN(64, distance);
    if (target > kMaxOffset) return Errno.overflow;
    if (target < 0n) return Errno.inval;
    this.#memory().setU64(out, target);
    descriptor.offset = target;
    return Errno.success;
  }

  #allocate(fd, offset, length) {
    const { node } = this.#file(fd, Right.allocate, Errno.spipe);
    if (length === 0n || offset > kMaxOffset || length > kMaxOffset) return Errno.inval;
    if (offset + length > kMaxOffset) return Errno.fbig;
    if (this.#files.node(node).readOnly) return Errno.rofs;
    if (offset + length > BigInt(sizeOf(this.#files.node(node)))) this.#files.resize(node, offset + length);
    return Errno.success;
  }

  #advise(fd, offset, length, advice) {
    this.#file(fd, Right.advise, Errno.spipe);
    return advice >>> 0 <= 5 && offset <= kMaxOffset && offset + length <= kMaxOffset ? Errno.success : Errno.inval;
  }

  #setSize(fd, size) {
    const { node } = this.#file(fd, Right.setSize, Errno.inval);
    if (size > kMaxOffset) return Errno.inval;
    this.#files.resize(node, size);
    return Errno.success;
  }

  // --- descriptors

  #close(fd) {
    const found = this.#state.descriptors.get(fd >>> 0) ?? deny(Errno.badf);
    if (found.kind === Stream.node) this.#files.close(found.node);
    this.#state.descriptors.delete(fd >>> 0);
    return Errno.success;
  }

  #renumber(from, to) {
    const moved = this.#state.descriptors.get(from >>> 0) ?? deny(Errno.badf);
    if (!this.#state.descriptors.has(to >>> 0)) return Errno.badf;
    if (from === to) return Errno.success;
    this.#close(to);
    this.#state.descriptors.set(to >>> 0, moved);
    this.#state.descriptors.delete(from >>> 0);
    return Errno.success;
  }

  // A stream is always a character device, whatever the host has: how the guest buffers must not depend on where it runs.
  #fdstat(fd, out) {
    const found = this.descriptor(fd, 0n);
    const view = this.#memory().view(out, 24);
    new Uint8Array(view.buffer, view.byteOffset, 24).fill(0);
    view.setUint8(0, found.kind === Stream.node ? kFileTypes[this.#files.node(found.node).type] : FileType.characterDevice);
    view.setUint16(2, found.flags, true);
    view.setBigUint64(8, found.rights, true);
    view.setBigUint64(16, found.inheriting, true);
    return Errno.success;
  }

  #setFlags(fd, flags) {
    const found = this.descriptor(fd, 0n);
    if (flags >>> 0 > kAllFdFlags) return Errno.inval;
    if (found.kind !== Stream.node) return flags === 0 ? Errno.success : Errno.notsup;
    found.flags = flags;
    return Errno.success;
  }

  #setRights(fd, rights, inheriting) {
    const found = this.descriptor(fd, 0n);
    if ((u64(rights) & ~found.rights) !== 0n || (u64(inheriting) & ~found.inheriting) !== 0n) return Errno.notcapable;
    found.rights = u64(rights);
    found.inheriting = u64(inheriting);
    return Errno.success;
  }

  #storeStat(out, inode) {
    const view = this.#memory().view(out, kStatBytes);
    new Uint8Array(view.buffer, view.byteOffset, kStatBytes).fill(0);
    if (inode === null) {
      view.setUint8(16, FileType.characterDevice);
      return Errno.success;
    }
    this.#learnTime();
    const node = this.#files.node(inode);
    const words = [1n, inode, BigInt(kFileTypes[node.type]), BigInt(node.names), BigInt(sizeOf(node)), node.accessed, node.modified, node.changed];
    words.forEach((word, i) => view.setBigUint64(8 * i, word, true));
    return Errno.success;
  }

  // The guest is about to see or set the time of a file: the clock of the tree must show the time by then.
  #learnTime() {
    if (!this.#files.knowsTime) this.#realtime();
  }

  #filestat(fd, out) {
    const found = this.descriptor(fd, Right.filestatGet);
    return this.#storeStat(out, found.kind === Stream.node ? found.node : null);
  }

  #setTimes(inode, accessed, modified, flags) {
    const has = (flag) => (flags & flag) !== 0;
    const both = (has(TimeFlag.accessed) && has(TimeFlag.accessedNow)) || (has(TimeFlag.modified) && has(TimeFlag.modifiedNow));
    if (both || flags >>> 0 > 15) return Errno.inval;
    if (this.#files.node(inode).readOnly) return Errno.rofs;
    this.#learnTime();
    const now = has(TimeFlag.accessedNow) || has(TimeFlag.modifiedNow) ? this.#realtime() : undefined;
    const choose = (given, nowFlag, time) => (has(given) ? u64(time) : has(nowFlag) ? now : undefined);
    this.#files.setTimes(
      inode,
      choose(TimeFlag.accessed, TimeFlag.accessedNow, accessed),
      choose(TimeFlag.modified, TimeFlag.modifiedNow, modified),
    );
    return Errno.success;
  }

  #prestat(fd) {
    const found = this.#state.descriptors.get(fd >>> 0);
    return found?.preopened ? found : deny(Errno.badf);
  }

  #prestatGet(fd, out) {
    this.#prestat(fd);
    const memory = this.#memory();
    memory.setU32(out, 0);
    memory.setU32((out >>> 0) + 4, kPreopenName.length);
    return Errno.success;
  }

  #prestatName(fd, path, length) {
    this.#prestat(fd);
    if (length >>> 0 < kPreopenName.length) return Errno.nametoolong;
    this.#memory().bytes(path, kPreopenName.length).set(nameToBytes(kPreopenName));
    return Errno.success;
  }

  #readdir(fd, buffer, length, cookie, out) {
    const { node: inode } = this.#node(fd, Right.readdir, Errno.notdir);
    const directory = this.#files.node(inode);
    if (directory.type !== NodeType.directory) return Errno.notdir;
    const memory = this.#memory();
    const room = memory.bytes(buffer, length);
    memory.view(out, 4);
    let used = 0;
    const append = (bytes) => {
      const part = bytes.subarray(0, room.length - used);
      room.set(part, used);
      used += part.length;
    };
    for (const [next, node, name] of this.#namesAfter(inode, directory, u64(cookie))) {
      if (used === room.length) break;
      const head = new Uint8Array(kDirentBytes);
      const view = new DataView(head.buffer);
      view.setBigUint64(0, next, true);
      view.setBigUint64(8, node, true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, kFileTypes[this.#files.node(node).type]);
      append(head);
      append(nameToBytes(name));
    }
    memory.setU32(out, used);
    return Errno.success;
  }

  *#namesAfter(inode, directory, cookie) {
    if (directory.parent !== 0n) {
      if (cookie < kSelfCookie) yield [kSelfCookie, inode, "."];
      if (cookie < kParentCookie) yield [kParentCookie, directory.parent, ".."];
    }
    for (const [name, entry] of directory.entries) if (entry.cookie > cookie) yield [entry.cookie, entry.node, name];
  }

  // --- paths

  #createDirectory(fd, path, length) {
    const { directory, name } = this.#newPlace(fd, Right.createDirectory, [path, length]);
    this.#files.make(directory, name, makeDirectory());
    return Errno.success;
  }

  #removeDirectory(fd, path, length) {
    const place = this.#place(fd, Right.removeDirectory, [path, length], "never");
    this.#existing(place);
    if (place.name === "") return Errno.busy;
    this.#files.removeDirectory(place.directory, place.name);
    return Errno.success;
  }

  #unlink(fd, path, length) {
    const { directory, name } = this.#place(fd, Right.unlink, [path, length], "never");
    if (name === "") return Errno.isdir;
    this.#files.unlink(directory, name);
    return Errno.success;
  }

  #symlink(target, targetLength, fd, path, length) {
    const text = this.#text(target, targetLength);
    if (text === "") return Errno.noent;
    if (text.length >= 4096) return Errno.nametoolong;
    if (text.includes("\0")) return Errno.inval;
    const { directory, name, wantsDirectory } = this.#newPlace(fd, Right.symlink, [path, length]);
    if (wantsDirectory) return Errno.noent;
    // The path would lead out of the directory of the descriptor.
    if (text.startsWith("/") && this.#state.descriptors.get(fd >>> 0).node !== kRoot) return Errno.perm;
    this.#files.make(directory, name, makeSymlink(text));
    return Errno.success;
  }

  #link(oldFd, lookup, oldPath, oldLength, newFd, newPath, newLength) {
    const node = this.#existing(this.#place(oldFd, Right.linkSource, [oldPath, oldLength], lastLink(lookup)));
    const { directory, name, wantsDirectory } = this.#newPlace(newFd, Right.linkTarget, [newPath, newLength]);
    if (wantsDirectory) return Errno.noent;
    this.#files.link(node, directory, name);
    return Errno.success;
  }

  #rename(oldFd, oldPath, oldLength, newFd, newPath, newLength) {
    const from = this.#place(oldFd, Right.renameSource, [oldPath, oldLength], "never");
    const to = this.#place(newFd, Right.renameTarget, [newPath, newLength], "never");
    if (from.name === "" || to.name === "") return Errno.busy;
    const moved = this.#existing(from);
    if (to.wantsDirectory && !this.#files.isDirectory(moved)) return Errno.notdir;
    this.#files.rename(from.directory, from.name, to.directory, to.name);
    return Errno.success;
  }

  #readlink(fd, path, length, buffer, bufferLength, out) {
    const { target } = this.#files.node(this.#existing(this.#place(fd, Right.readlink, [path, length], "keep")));
    if (target === undefined) return Errno.inval;
    const memory = this.#memory();
    const part = nameToBytes(target).subarray(0, bufferLength >>> 0);
    memory.bytes(buffer, bufferLength).set(part);
    memory.setU32(out, part.length);
    return Errno.success;
  }

  #pathFilestat(fd, lookup, path, length, out) {
    return this.#storeStat(out, this.#existing(this.#place(fd, Right.pathFilestatGet, [path, length], lastLink(lookup))));
  }

  #pathSetTimes(fd, lookup, path, length, accessed, modified, flags) {
    const inode = this.#existing(this.#place(fd, Right.pathSetTimes, [path, length], lastLink(lookup)));
    return this.#setTimes(inode, accessed, modified, flags);
  }

  #open(fd, lookup, path, length, openFlags, rights, inheriting, fdFlags, out) {
    if (openFlags >>> 0 > 15 || fdFlags >>> 0 > kAllFdFlags) return Errno.inval;
    const granted = { rights: u64(rights) & Right.all, inheriting: u64(inheriting) & Right.all };
    const needed = Right.open | (openFlags & OpenFlag.create ? Right.createFile : 0n) | (openFlags & OpenFlag.truncate ? Right.pathSetSize : 0n);
    const exclusive = (openFlags & 5) === (OpenFlag.create | OpenFlag.exclusive);
    const place = this.#place(fd, needed, [path, length], exclusive ? "keep" : lastLink(lookup));
    const { descriptors } = this.#state;
    if (((granted.rights | granted.inheriting) & ~descriptors.get(fd >>> 0).inheriting) !== 0n) return Errno.notcapable;
    const memory = this.#memory();
    memory.view(out, 4);
    if (descriptors.size >= kMaxDescriptors) return Errno.mfile;
    const node = this.#nodeToOpen(place, openFlags, rights);
    this.#files.open(node);
    let number = 0;
    while (descriptors.has(number)) number++;
    if (this.#files.isDirectory(node)) granted.rights &= kRightsOfDirectories;
    descriptors.set(number, { kind: Stream.node, preopened: false, flags: fdFlags, ...granted, node, offset: 0n });
    memory.setU32(out, number);
    return Errno.success;
  }

  #nodeToOpen(place, openFlags, rights) {
    const has = (flag) => (openFlags & flag) !== 0;
    if (has(OpenFlag.create) && has(OpenFlag.directory)) deny(Errno.inval);
    if (place.node === 0n) {
      if (!has(OpenFlag.create)) deny(Errno.noent);
      if (place.wantsDirectory) deny(Errno.isdir);
      return this.#files.make(place.directory, place.name, makeFile());
    }
    if (has(OpenFlag.create) && has(OpenFlag.exclusive)) deny(Errno.exist);
    const node = this.#files.node(place.node);
    const writes = (rights & Right.write) !== 0n || has(OpenFlag.truncate);
    if (node.type === NodeType.symlink) deny(has(OpenFlag.directory) ? Errno.notdir : Errno.loop);
    if (node.type === NodeType.directory) return has(OpenFlag.create) || writes ? deny(Errno.isdir) : place.node;
    if (has(OpenFlag.directory)) deny(Errno.notdir);
    if (writes && node.readOnly) deny(Errno.rofs);
    if (has(OpenFlag.truncate) && sizeOf(node) > 0) this.#files.resize(place.node, 0);
    return place.node;
  }

  // The functions of the import module but fd_read and fd_write, which streams have too.
  imports() {
    return {
      fd_advise: (fd, offset, length, advice) => this.#advise(fd, u64(offset), u64(length), advice),
      fd_allocate: (fd, offset, length) => this.#allocate(fd, u64(offset), u64(length)),
      fd_close: (fd) => this.#close(fd),
      fd_datasync: (fd) => (this.#node(fd, 0n, Errno.inval), Errno.success), // what is written is in the tree already
      fd_fdstat_get: (fd, out) => this.#fdstat(fd, out),
      fd_fdstat_set_flags: (fd, flags) => this.#setFlags(fd, flags),
      fd_fdstat_set_rights: (fd, rights, inheriting) => this.#setRights(fd, rights, inheriting),
      fd_filestat_get: (fd, out) => this.#filestat(fd, out),
      fd_filestat_set_size: (fd, size) => this.#setSize(fd, u64(size)),
      fd_filestat_set_times: (fd, ...times) => this.#setTimes(this.#node(fd, Right.setTimes, Errno.inval).node, ...times),
      fd_pread: (fd, list, count, offset, out) => this.#at(fd, Right.read, offset, (descriptor, at) => this.read(descriptor, list, count, out, at)),
      fd_prestat_dir_name: (fd, path, length) => this.#prestatName(fd, path, length),
      fd_prestat_get: (fd, out) => this.#prestatGet(fd, out),
      fd_pwrite: (fd, list, count, offset, out) => this.#at(fd, Right.write, offset, (descriptor, at) => this.write(descriptor, list, count, out, at)),
      fd_readdir: (fd, buffer, length, cookie, out) => this.#readdir(fd, buffer, length, cookie, out),
      fd_renumber: (from, to) => this.#renumber(from, to),
      fd_seek: (fd, distance, whence, out) => this.#seek(fd, distance, whence, out),
      fd_sync: (fd) => (this.#node(fd, Right.sync, Errno.inval), Errno.success),
      fd_tell: (fd, out) => (this.#memory().setU64(out, this.#file(fd, Right.tell, Errno.spipe).offset), Errno.success),
      path_create_directory: (...args) => this.#createDirectory(...args),
      path_filestat_get: (...args) => this.#pathFilestat(...args),
      path_filestat_set_times: (...args) => this.#pathSetTimes(...args),
      path_link: (...args) => this.#link(...args),
      path_open: (...args) => this.#open(...args),
      path_readlink: (...args) => this.#readlink(...args),
      path_remove_directory: (...args) => this.#removeDirectory(...args),
      path_rename: (...args) => this.#rename(...args),
      path_symlink: (...args) => this.#symlink(...args),
      path_unlink_file: (...args) => this.#unlink(...args),
    };
  }
}
