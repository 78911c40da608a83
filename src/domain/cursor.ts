import { createHmac, createSecretKey } from 'node:crypto';
import { secretsEqual } from './secrets.ts';

export type Position = readonly (string | number)[];

/**
 * Turns the position where a page ended into an opaque string and back. `binding` names the list of the cursor
 * (organization, route, filters); a cursor opens only under the same strings in the same order. `open` returns null for
 * everything that `seal` did not produce, and never throws.
 */
export type CursorCodec = {
  seal(binding: readonly string[], position: Position): string;
  open(binding: readonly string[], cursor: string): Position | null;
};

const cursorLengthMax = 2048;
const tagLength = 16;

/** Cursors are `base64url(tag, position as JSON)`; the tag is HMAC-SHA-256 under `key`, cut to 16 bytes. */
export function createCursorCodec(key: Buffer): CursorCodec {
  const hmacKey = createSecretKey(key);
  const tagOf = (binding: readonly string[], payload: Buffer): Buffer =>
    // JSON separates neighbouring strings, escapes lone surrogates and contains no raw line break, so no two pairs of
    // binding and position have the same bytes.
    createHmac('sha256', hmacKey)
      .update(`${JSON.stringify(binding)}\n`)
      .update(payload)
      .digest()
      .subarray(0, tagLength);

  return {
    seal(binding, position) {
      if (!isPosition(position)) throw new Error('A cursor position holds strings and finite numbers only.');
      const payload = Buffer.from(JSON.stringify(position), 'utf8');
      const cursor = Buffer.concat([tagOf(binding, payload), payload]).toString('base64url');
      if (cursor.length > cursorLengthMax) throw new Error('A cursor position must fit into the accepted length.');
      return cursor;
    },
    open(binding, cursor) {
      if (cursor.length > cursorLengthMax) return null;
      const bytes = Buffer.from(cursor, 'base64url');
      // The decoder skips invalid characters; only the exact spelling that `seal` writes may pass.
      if (bytes.toString('base64url') !== cursor) return null;
      const payload = bytes.subarray(tagLength);
      if (!secretsEqual(bytes.subarray(0, tagLength), tagOf(binding, payload))) return null;
      return readPosition(payload);
    },
  };
}

function readPosition(payload: Buffer): Position | null {
  try {
    const position: unknown = JSON.parse(payload.toString('utf8'));
    return isPosition(position) ? position : null;
  } catch {
    // An authentic cursor that is unreadable was written by another release; it is treated as foreign.
    return null;
  }
}

function isPosition(value: unknown): value is Position {
  return Array.isArray(value) && value.every((part) => typeof part === 'string' || Number.isFinite(part));
}
