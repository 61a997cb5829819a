// Input and output files of a guest that runs in Node: folders of this machine.
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hex } from "./bytes.mjs";
import { refuse } from "./errors.mjs";
import { nameToBytes } from "./file_tree_codec.mjs";

const kChunkBytes = 2 ** 20;

function* chunksOf(path) {
  const file = openSync(path, "r");
  try {
    for (let offset = 0; ; offset += kChunkBytes) {
      const bytes = new Uint8Array(kChunkBytes);
      const count = readSync(file, bytes, 0, kChunkBytes, offset);
      if (count === 0) return;
      yield { offset, bytes: bytes.subarray(0, count) };
    }
  } finally {
    closeSync(file);
  }
}

// Finds parts of files by their hash in a folder, which is read when the first one is asked for.
export class FolderChunks {
  #folder;
  #places = null; // hash in hexadecimal digits to {path, offset}

  constructor(folder) {
    this.#folder = folder;
  }

  chunk(hash) {
    if (this.#folder === undefined) refuse("invalid", "the program reads input files: say with --inputs in which folder they are");
    this.#places ??= this.#index();
    const { path, offset } = this.#places.get(hex(hash)) ?? refuse("invalid", `${this.#folder} does not have the input files the program was started with`);
    for (const chunk of chunksOf(path)) if (chunk.offset === offset) return chunk.bytes;
    return refuse("invalid", `${path} has changed`);
  }

  #index() {
    const places = new Map();
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath ?? entry.path, entry.name);
      for (const { offset, bytes } of chunksOf(path)) places.set(createHash("sha256").update(bytes).digest("hex"), { path, offset });
    }
    return places;
  }
}

// Puts what a guest has left at its outputs below `folder`.
export function placeOutputs(outputs, folder) {
  for (const { path, type, bytes } of outputs) {
    const target = join(folder, Buffer.from(nameToBytes(path)).toString());
    mkdirSync(type === "directory" ? target : dirname(target), { recursive: true });
    if (type === "directory") continue;
    rmSync(target, { force: true }); // else a link that is there would be written through
    if (type === "symlink") symlinkSync(Buffer.from(bytes), target);
    else writeFileSync(target, bytes);
  }
}
