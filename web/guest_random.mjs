// The random numbers of a guest, decided by its seed alone: the key stream of ChaCha20 with a 64-bit block counter and nonce 0.
const kBlockBytes = 64;

function quarterRound(w, a, b, c, d) {
  const rotated = (x, bits) => (x << bits) | (x >>> (32 - bits));
  w[a] += w[b];
  w[d] = rotated(w[d] ^ w[a], 16);
  w[c] += w[d];
  w[b] = rotated(w[b] ^ w[c], 12);
  w[a] += w[b];
  w[d] = rotated(w[d] ^ w[a], 8);
  w[c] += w[d];
  w[b] = rotated(w[b] ^ w[c], 7);
}

function block(seed, counter) {
  const start = new Uint32Array(16);
  start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  const key = new DataView(seed.buffer, seed.byteOffset, 32);
  for (let i = 0; i < 8; i++) start[4 + i] = key.getUint32(4 * i, true);
  start[12] = Number(counter & 0xffffffffn);
  start[13] = Number(counter >> 32n);
  const w = start.slice();
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 4; i++) quarterRound(w, i, 4 + i, 8 + i, 12 + i);
    for (let i = 0; i < 4; i++) quarterRound(w, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
  }
  const out = new DataView(new ArrayBuffer(kBlockBytes));
  for (let i = 0; i < 16; i++) out.setUint32(4 * i, w[i] + start[i], true);
  return new Uint8Array(out.buffer);
}

// Fills `out` with the bytes of the stream from `position` (a BigInt) on.
export function fillRandom(out, seed, position) {
  for (let done = 0; done < out.length; ) {
    const at = position + BigInt(done);
    const bytes = block(seed, at / BigInt(kBlockBytes)).subarray(Number(at % BigInt(kBlockBytes)));
    const count = Math.min(bytes.length, out.length - done);
    out.set(bytes.subarray(0, count), done);
    done += count;
  }
}
