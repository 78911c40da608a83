/** Request events: the ids of requests and of their events, and the envelope around what an event tells. */

import { hash } from 'node:crypto';
import { SCHEMA_VERSION } from './event.ts';
import { isObject } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import type { Span } from './trace.ts';

const REQUEST_ID = /^[\x21-\x2b\x2d-\x7e]{1,256}$/;
const REQUEST_ID_MEMBER = '"gateway_request_id"';
const HASH_DIGITS = 30;
const REHASHES_MAX = 8;
const NONCHARACTERS = /[\ufffe\uffff]/g;

/** The id a gateway gave the call, when the parameters carry one; else one that follows from the span alone. */
export function gatewayRequestId(traceId: string, spanId: string, params: LosslessObject | null): string {
  const reported = params?.gateway_request_id;
  if (typeof reported === 'string' && isRequestId(reported)) return reported;
  return hashedRequestId(`${escapePart(traceId)}/${escapePart(spanId)}`);
}

/** Whether a gateway may call a request so: printable ASCII, without space and comma. */
export function isRequestId(id: string): boolean {
  return REQUEST_ID.test(id);
}

/** The id that a stored span stands for; null when it is no request. */
export function requestIdOfStored(
  traceId: string,
  { spanId, type, paramsJson }: Pick<Span, 'spanId' | 'type' | 'paramsJson'>,
): string | null {
  if (type !== 'llm') return null;
  // Parameters can be large, and few of them name a request.
  const params: LosslessJson = paramsJson?.includes(REQUEST_ID_MEMBER) ? JSON.parse(paramsJson) : null;
  return gatewayRequestId(traceId, spanId, isObject(params) ? params : null);
}

/**
 * What request ids may stand for in event ids of an organization, in the order they are tried: other
 * projects may have reported the same id, and may even have made up the second one.
 */
export function requestKeys(requestId: string, projectId: string): readonly [string, string, string] {
  return [requestId, `${requestId}:${projectId}`, hashedRequestId(`${projectId}/${requestId}`)];
}

/** The same, and what is tried when other projects have reported all three. */
export function* allRequestKeys(requestId: string, projectId: string): Generator<string, void> {
  const keys = requestKeys(requestId, projectId);
  yield* keys;
  for (let rehash = 1; rehash <= REHASHES_MAX; rehash += 1) {
    yield hashedRequestId(`${projectId}/${requestId}/${rehash}`);
  }
  // Whoever knows the ids can report every one of those, but no reported id holds a comma.
  yield `${keys[2]},`;
}

function hashedRequestId(text: string): string {
  return `req_${hash('sha256', text, 'hex').slice(0, HASH_DIGITS)}`;
}

// Without it trace `a/b` with span `c` and trace `a` with span `b/c` would share one request.
function escapePart(part: string): string {
  return part.includes('%') || part.includes('/') ? part.replaceAll('%', '%25').replaceAll('/', '%2F') : part;
}

export type EventKind = 'completed' | 'settled' | 'correction';

/** How often the event of a request may be corrected; the last of them ends in `:completed:10`. */
export const CORRECTIONS_MAX = 9;
const EVENT_ID = /^(.+):(?:(settled)|completed(?::([2-9]|10))?)$/s;

/** Which event of a request. The corrections of one are counted from 1. */
export type EventName =
  | { readonly kind: Exclude<EventKind, 'correction'> }
  | { readonly kind: 'correction'; readonly number: number };

/** The id of an event; `base` is one of the request keys. */
export function eventIdOf(base: string, name: EventName): string {
  return name.kind === 'correction' ? `${base}:completed:${name.number + 1}` : `${base}:${name.kind}`;
}

/** The inverse of eventIdOf; null for ids no request event has. */
export function parseEventId(id: string): { readonly base: string; readonly name: EventName } | null {
  const [, base, settled, number] = EVENT_ID.exec(id) ?? [];
  if (base === undefined) return null;
  if (number !== undefined) return { base, name: { kind: 'correction', number: Number(number) - 1 } };
  return { base, name: { kind: settled === undefined ? 'completed' : 'settled' } };
}

export type EnvelopeArgs = {
  readonly id: string;
  readonly type: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly created: string;
  /** Compact JSON text of an object. */
  readonly dataJson: string;
};

/** The event as every reader and receiver sees it, byte for byte and for ever. */
export function envelope({ id, type, created, dataJson }: EnvelopeArgs): string {
  const text =
    `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"created":"${created}"` +
    `,"schema_version":"${SCHEMA_VERSION}","data":${dataJson}}`;
  // Message queues refuse these two characters raw; escaped they mean the same.
  return text.replace(NONCHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}
