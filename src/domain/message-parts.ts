/** Limits how much memory a binary request may take once it is decoded: two bytes can encode a whole message. */

import { Fault } from './fault.ts';

/** Messages, list items and unknown fields of one request. */
export const PARTS_MAX = 400_000;

export function tooManyParts(partsMax = PARTS_MAX): Fault {
  return new Fault('payload_too_large', `The request has more than ${partsMax} parts; send it as several.`);
}

export function undecodable(cause: unknown): Fault {
  return new Fault('malformed_request', 'The message could not be decoded.', { cause });
}
