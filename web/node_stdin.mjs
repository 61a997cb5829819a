// Standard input of a Node process for a guest that may be suspended while it waits: nothing that was read is lost.
import { fstatSync, readSync } from "node:fs";
import { isatty } from "node:tty";

const kChunkBytes = 65536;

// A file is read when the guest asks. Anything else may keep it waiting, so Node's own stream watches it, and what that stream has read
// ahead is given back when the guest is saved.
export class NodeStdin {
  #stream = null;
  #ended = false;

  // The next bytes, null at the end, undefined if there are none yet.
  read() {
    if (this.#ended) return null;
    if (neverWaits()) return this.#readNow();
    this.#stream ??= process.stdin.on("end", () => (this.#ended = true)).on("error", () => (this.#ended = true));
    return this.#stream.read() ?? undefined;
  }

  // Until read() may have something new, at most `milliseconds`.
  waitForInput(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      for (const event of ["readable", "end", "error"]) {
        this.#stream?.once(event, () => {
          clearTimeout(timer);
          resolve();
        });
      }
    });
  }

  // The bytes read ahead of the guest.
  takeUnread() {
    const chunks = [];
    for (let chunk; (chunk = this.#stream?.read() ?? null) !== null; ) chunks.push(chunk);
    return new Uint8Array(Buffer.concat(chunks));
  }

  // An open stream would keep the process alive.
  close() {
    this.#stream?.destroy();
  }

  #readNow() {
    const buffer = new Uint8Array(kChunkBytes);
    const count = readSync(0, buffer);
    this.#ended = count === 0;
    return this.#ended ? null : buffer.subarray(0, count);
  }
}

function neverWaits() {
  const stat = fstatSync(0);
  return stat.isFile() || (stat.isCharacterDevice() && !isatty(0));
}
