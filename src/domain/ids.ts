const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// The largest multiple of 62 that fits a byte. Larger bytes would favour the first digits and are dropped.
const unbiasedBytes = 248;
// A working source loses one byte in 32; after this many rounds it must be broken.
const roundsMax = 64;
const idLength = 21;

/**
 * `length` characters of `[0-9A-Za-z]`, each equally likely. `random` gives that many bytes from a CSPRNG.
 * Throws when the source keeps yielding bytes no digit can be drawn from.
 */
export function randomBase62(length: number, random: (bytes: number) => Buffer): string {
  let drawn = '';
  for (let round = 0; round < roundsMax && drawn.length < length; round += 1) {
    for (const byte of random(length - drawn.length)) {
      if (byte < unbiasedBytes) drawn += alphabet.charAt(byte % alphabet.length);
    }
  }
  if (drawn.length !== length) throw new Error('The random source did not deliver usable bytes.');
  return drawn;
}

/** A new id: `<prefix>_` and 21 random characters of `[0-9A-Za-z]`. */
export function newId(prefix: string, random: (bytes: number) => Buffer): string {
  return `${prefix}_${randomBase62(idLength, random)}`;
}

/** The slug of an object: the name's ASCII letters and digits in lower case, then the last 6 characters of the id. */
export function slugify(name: string, id: string): string {
  // Lower-casing comes second: some non-ASCII letters have ASCII lower-case forms that would pass the filter.
  const words = name.replace(/[^0-9A-Za-z]+/g, '-').toLowerCase();
  return `${words}-${id.slice(-6)}`;
}

/** A whole number in base 62, most significant digit first, left-padded with `0` to `width` digits. */
export function toBase62(value: number, width: number): string {
  let digits = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / alphabet.length)) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
  }
  return digits.padStart(width, '0');
}
