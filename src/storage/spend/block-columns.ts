/** Packs the columns of spend blocks. */

const HEAD_BYTES = 8;
const NARROW_NULL = 0xffff_ffff;

/**
 * Packs a whole number or null per trace. Numbers within a range of 32 bits take four bytes each, after the least one;
 * others take eight bytes each, after a NaN.
 */
export function packColumn(values: readonly (number | null)[]): Buffer {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (most - least >= NARROW_NULL) {
    return Buffer.from(Float64Array.from([Number.NaN, ...values.map((value) => value ?? Number.NaN)]).buffer);
  }
  const base = Number.isFinite(least) ? least : 0;
  const packed = Buffer.alloc(HEAD_BYTES + 4 * values.length);
  packed.writeDoubleLE(base);
  for (const [index, value] of values.entries()) {
    packed.writeUInt32LE(value === null ? NARROW_NULL : value - base, HEAD_BYTES + 4 * index);
  }
  return packed;
}

/**
 * Unpacks a column into an array that has room for it, and returns the part that it fills. NaN stands for null. `aligned`
 * has room for the packed bytes: typed arrays need aligned ones.
 */
export function unpackColumn(packed: Uint8Array, into: Float64Array, aligned: Uint8Array): Float64Array {
  aligned.set(packed);
  const base = new Float64Array(aligned.buffer, 0, 1)[0] ?? 0;
  if (Number.isNaN(base)) {
    const count = packed.length / HEAD_BYTES - 1;
    into.set(new Float64Array(aligned.buffer, HEAD_BYTES, count));
    return into.subarray(0, count);
  }
  const narrow = new Uint32Array(aligned.buffer, HEAD_BYTES, (packed.length - HEAD_BYTES) / 4);
  const count = narrow.length;
  // Runs once per request of a range: an iterator would take several times as long.
  for (let index = 0; index < count; index += 1) {
    const value = narrow[index] ?? NARROW_NULL;
    into[index] = value === NARROW_NULL ? Number.NaN : base + value;
  }
  return into.subarray(0, count);
}
