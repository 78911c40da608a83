/** Parses a chunked body (RFC 9112, 7.1) from buffers of any size. */

export type ChunkedBody = ReturnType<typeof createChunkedBody>;

export const GOES_ON = -1;
export const MALFORMED = -2;

type Stage = 'size' | 'extension' | 'sizeEnd' | 'content' | 'contentCr' | 'contentLf' | 'trailer' | 'trailerEnd';

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;
/** Sizes of this many digits are far beyond the limit of a body. */
const SIZE_DIGITS_MAX = 8;

export function createChunkedBody() {
  let stage: Stage = 'size';
  let digits = 0;
  let leftBytes = 0;
  let isLineEmpty = true;

  /** Whether the byte is valid at this stage. */
  const step = (byte: number): boolean => {
    switch (stage) {
      case 'size': {
        const digit = hexDigit(byte);
        if (digit >= 0) {
          leftBytes = leftBytes * 16 + digit;
          digits += 1;
          return digits <= SIZE_DIGITS_MAX;
        }
        stage = byte === CR ? 'sizeEnd' : 'extension';
        return digits > 0 && (byte === CR || byte === SEMICOLON || byte === SPACE || byte === TAB);
      }
      case 'extension':
        if (byte === CR) stage = 'sizeEnd';
        return byte !== LF;
      case 'sizeEnd':
        stage = leftBytes > 0 ? 'content' : 'trailer';
        digits = 0;
        isLineEmpty = true;
        return byte === LF;
      case 'contentCr':
        stage = 'contentLf';
        return byte === CR;
      case 'contentLf':
        stage = 'size';
        return byte === LF;
      case 'trailer':
        if (byte === CR) stage = 'trailerEnd';
        else isLineEmpty = false;
        return byte !== LF;
      default:
        return byte === LF;
    }
  };
  return {
    /**
     * Parses the bytes and passes the content to `keep`. Returns the index after the body, -1 while the body goes on, and
     * -2 when it is malformed.
     */
    read(bytes: Buffer, keep: (content: Buffer) => void): number {
      for (let index = 0; index < bytes.length; ) {
        if (stage === 'content') {
          const end = Math.min(bytes.length, index + leftBytes);
          keep(bytes.subarray(index, end));
          leftBytes -= end - index;
          index = end;
          if (leftBytes === 0) stage = 'contentCr';
          continue;
        }
        const endsTrailerLine = stage === 'trailerEnd';
        if (!step(bytes[index] ?? 0)) return MALFORMED;
        index += 1;
        if (!endsTrailerLine) continue;
        if (isLineEmpty) return index;
        stage = 'trailer';
        isLineEmpty = true;
      }
      return GOES_ON;
    },
  };
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
