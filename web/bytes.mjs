// Little-endian reading and writing with bounds. `what` names the thing that is read, for messages.
import { refuse } from "./errors.mjs";

const utf8 = new TextDecoder("utf-8", { fatal: true });

export class ByteReader {
  #bytes;
  #view;
  #at = 0;
  #what;

  constructor(bytes, what) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#what = what;
  }

  get position() {
    return this.#at;
  }

  get remaining() {
    return this.#bytes.length - this.#at;
  }

  // A view of the next `count` bytes, not a copy.
  bytes(count) {
    const at = this.#advance(count);
    return this.#bytes.subarray(at, at + count);
  }

  u8() {
    return this.#view.getUint8(this.#advance(1));
  }

  u16() {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32() {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u64() {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  // Unsigned LEB128 of at most 32 bits.
  leb() {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80 && value < 2 ** 32) return value;
    }
    return refuse("corrupt", `${this.#what} holds a number that is too large`);
  }

  text(count) {
    try {
      return utf8.decode(this.bytes(count));
    } catch (error) {
      if (error instanceof TypeError) refuse("corrupt", `${this.#what} holds text that is not UTF-8`);
      throw error;
    }
  }

  expectEnd() {
    if (this.remaining > 0) refuse("corrupt", `${this.#what} has ${this.remaining} bytes too many`);
  }

  #advance(count) {
    if (count > this.remaining) {
      refuse("corrupt", `${this.#what} ends too early: ${count} bytes are expected at offset ${this.#at}, ${this.remaining} are left`);
    }
    const at = this.#at;
    this.#at += count;
    return at;
  }
}

export class ByteWriter {
  #bytes;
  #view;
  #size = 0;

  constructor(expectedBytes = 256) {
    this.#bytes = new Uint8Array(expectedBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get size() {
    return this.#size;
  }

  u8(value) {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  u16(value) {
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value) {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value) {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, value, true);
  }

  bytes(bytes) {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  take() {
    return this.#bytes.subarray(0, this.#size);
  }

  #grow(count) {
    const at = this.#size;
    this.#size += count;
    if (this.#size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#size, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

export function equalBytes(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function sha256(bytes) {
  return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes));
}
