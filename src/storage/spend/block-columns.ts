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

/** NaN stands for null. */
export function unpackColumn(packed: Uint8Array): Float64Array {
  // Copied, because typed arrays need aligned bytes.
  const bytes = Uint8Array.from(packed).buffer;
  const [base = 0] = new Float64Array(bytes, 0, 1);
  if (Number.isNaN(base)) return new Float64Array(bytes, HEAD_BYTES);
  const narrow = new Uint32Array(bytes, HEAD_BYTES);
  const values = new Float64Array(narrow.length);
  // Runs once per trace of a project: an iterator would take several times as long.
  for (let index = 0; index < narrow.length; index += 1) {
    const value = narrow[index] ?? NARROW_NULL;
    values[index] = value === NARROW_NULL ? Number.NaN : base + value;
  }
  return values;
}
