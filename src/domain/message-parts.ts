/** Limits how much memory a binary request may take once it is decoded: two bytes can encode a whole message. */

import { Fault } from './fault.ts';

/** Messages, list items and unknown fields of one request. An export of 8,000 spans of 20 attributes has 330,000. */
export const PARTS_MAX = 400_000;

export function tooManyParts(): Fault {
  return new Fault('payload_too_large', `The request has more than ${PARTS_MAX} parts; send it as several.`);
}

export function undecodable(cause: unknown): Fault {
  return new Fault('malformed_request', 'The message could not be decoded.', { cause });
}
