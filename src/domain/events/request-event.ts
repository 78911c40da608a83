/** Request events: the ids of requests and of their events, and the envelope around the data. */

import { hash } from 'node:crypto';
import type { LosslessObject } from '../../json/lossless-json.ts';
import type { RandomBytes } from '../clock.ts';
import { randomBase62 } from '../ids.ts';
import { SCHEMA_VERSION } from './event.ts';

const REQUEST_ID = /^[\x21-\x2b\x2d-\x7e]{1,256}$/;
const OWN_PREFIX = 'gwreq_';
const OWN_CHARACTERS = 24;
const HASH_DIGITS = 30;
const REHASHES_MAX = 8;
const NONCHARACTERS = /[\ufffe\uffff]/g;

/** The id that the gateway put into the parameters; else a hash of the ids of trace and span. */
export function gatewayRequestId(traceId: string, spanId: string, params: LosslessObject | null): string {
  const reported = params?.gateway_request_id;
  if (typeof reported === 'string' && isRequestId(reported)) return reported;
  return hashedRequestId(`${escapePart(traceId)}/${escapePart(spanId)}`);
}

/** The id of a new request of our own gateway. */
export function createGatewayRequestId(random: RandomBytes): string {
  return OWN_PREFIX + randomBase62(OWN_CHARACTERS, random);
}

/** Whether only our own gateway gives requests such an id: it alone says what became of them. */
export function isOwnRequestId(id: string): boolean {
  return id.startsWith(OWN_PREFIX);
}

/** Whether a text is a valid request id: printable ASCII without space and comma. */
export function isRequestId(id: string): boolean {
  return REQUEST_ID.test(id);
}

/**
 * The keys that may stand for a request in event ids, in the order they are tried: another project of
 * the organization may use the first, and may even have invented the second.
 */
export function requestKeys(requestId: string, projectId: string): readonly [string, string, string] {
  return [requestId, `${requestId}:${projectId}`, hashedRequestId(`${projectId}/${requestId}`)];
}

/** The requestKeys, then more in case other projects use them. */
export function* allRequestKeys(requestId: string, projectId: string): Generator<string, void> {
  const keys = requestKeys(requestId, projectId);
  yield* keys;
  for (let rehash = 1; rehash <= REHASHES_MAX; rehash += 1) {
    yield hashedRequestId(`${projectId}/${requestId}/${rehash}`);
  }
  // A project can report ids equal to all keys above, but no valid id holds a comma.
  yield `${keys[2]},`;
}

function hashedRequestId(text: string): string {
  return `req_${hash('sha256', text, 'hex').slice(0, HASH_DIGITS)}`;
}

// Else trace `a/b` with span `c` and trace `a` with span `b/c` would share a request.
function escapePart(part: string): string {
  return part.includes('%') || part.includes('/') ? part.replaceAll('%', '%25').replaceAll('/', '%2F') : part;
}

export type EventKind = 'completed' | 'settled' | 'correction';

/** Corrections per request; the id of the last ends in `:completed:10`. */
export const CORRECTIONS_MAX = 9;
const EVENT_ID = /^(.+):(?:(settled)|completed(?::([2-9]|10))?)$/s;

/** One event of a request. Corrections are numbered from 1. */
export type EventName =
  | { readonly kind: Exclude<EventKind, 'correction'> }
  | { readonly kind: 'correction'; readonly number: number };

/** The id of an event; `base` is one of the request keys. */
export function eventIdOf(base: string, name: EventName): string {
  return name.kind === 'correction' ? `${base}:completed:${name.number + 1}` : `${base}:${name.kind}`;
}

/** The inverse of eventIdOf; null for other ids. */
export function parseEventId(id: string): { readonly base: string; readonly name: EventName } | null {
  const [, base, settled, number] = EVENT_ID.exec(id) ?? [];
  if (base === undefined) return null;
  if (number !== undefined) return { base, name: { kind: 'correction', number: Number(number) - 1 } };
  return { base, name: { kind: settled === undefined ? 'completed' : 'settled' } };
}

type EnvelopeArgs = {
  readonly id: string;
  readonly type: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly created: string;
  /** Compact JSON text of an object. */
  readonly dataJson: string;
};

/** The exact text that readers and receivers get. It never changes. */
export function envelope({ id, type, created, dataJson }: EnvelopeArgs): string {
  const text =
    `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"created":"${created}"` +
    `,"schema_version":"${SCHEMA_VERSION}","data":${dataJson}}`;
  // Message queues refuse these two characters unless they are escaped.
  return text.replace(NONCHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

// envelope() always writes the members in this order.
const HEAD = /^\{"id":("(?:[^"\\]|\\.)*"),"type":"([^"]*)","created":"([^"]*)"/;

/** The first members of a stored envelope. Parses only the head: the data of an event can be large. */
export function readEnvelopeHead(text: string): {
  readonly id: string;
  readonly type: string;
  readonly createdAtMs: number;
} {
  const [, id, type, created] = HEAD.exec(text) ?? [];
  if (id === undefined || type === undefined || created === undefined)
    throw new Error('a stored envelope lacks its id, type or instant');
  return { id: JSON.parse(id), type, createdAtMs: Date.parse(created) };
}
