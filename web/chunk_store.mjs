// The last few parts of input files that the guest has read, and the one it waits for. Checking a hash takes a promise in JavaScript, so a
// guest that needs a part parks, and its driver supplies the part: Isolate.supplyChunk().
import { equalBytes, hex, sha256 } from "./bytes.mjs";
import { refuse } from "./errors.mjs";

const kMaxChunks = 4;

export class ChunkStore {
  #recent = new Map(); // by hash in hexadecimal digits, latest last
  awaited = null; // {hash, bytes}: what the guest waits for

  // undefined: it is not here, and is now awaited.
  find(hash, bytes) {
    const key = hex(hash);
    const chunk = this.#recent.get(key);
    if (chunk === undefined) {
      this.awaited = { hash, bytes };
      return undefined;
    }
    this.#recent.delete(key);
    this.#recent.set(key, chunk);
    return chunk;
  }

  async supply(chunk) {
    const { hash, bytes } = this.awaited ?? refuse("invalid", "the guest waits for no part of a file");
    const same = chunk.length === bytes && equalBytes(await sha256(chunk), hash);
    if (!same) refuse("corrupt", "a part of an input file is not what it was when the program was started: the file has changed");
    if (this.#recent.size === kMaxChunks) this.#recent.delete(this.#recent.keys().next().value);
    this.#recent.set(hex(hash), chunk);
    this.awaited = null;
  }
}
