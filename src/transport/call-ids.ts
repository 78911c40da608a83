/** The ids of a call: those the caller sent where they are well formed, random ones otherwise. */

import type { RandomBytes } from '../domain/clock.ts';
import { maskTokens } from '../domain/token-mask.ts';
import type { CallIds } from '../rpc/method.ts';

export type IdSource = {
  /** `header` returns the first value of a header, by its lower-case name. */
  readonly next: (header: (name: string) => string | undefined) => CallIds;
};

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const REQUEST_ID_DIGITS = 24;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Ids for every call. With tracing off the trace ids are empty, and no response shows them. */
export function createIdSource(random: RandomBytes, tracing: boolean): IdSource {
  const digits = createDigitPool(random);
  const hex = createHexPool(random);
  return {
    next(header) {
      const sent = header('x-request-id');
      const isKept = sent !== undefined && REQUEST_ID.test(sent);
      // The id ends up in logs, here and wherever the response passes, and a caller may send a token by mistake.
      const requestId = isKept ? maskTokens(sent) : `req_${digits(REQUEST_ID_DIGITS)}`;
      if (!tracing) return { requestId, traceId: '', spanId: '' };
      return {
        requestId,
        traceId: continuedTrace(header('traceparent')) ?? hex(16, NO_TRACE),
        spanId: hex(8, NO_SPAN),
      };
    },
  };
}

/** Adds the response headers that name the call and, unless tracing is off, its trace. */
export function addIds<H extends { [name: string]: unknown }>(headers: H, ids: CallIds): H {
  const named: { [name: string]: unknown } = headers;
  named['x-request-id'] = ids.requestId;
  const traceparent = traceparentOf(ids);
  if (traceparent !== null) named.traceparent = traceparent;
  return headers;
}

/** The response header that names the trace; null when tracing is off. */
export function traceparentOf(ids: CallIds): string | null {
  return ids.traceId === '' ? null : `00-${ids.traceId}-${ids.spanId}-01`;
}

function continuedTrace(traceparent: string | undefined): string | null {
  if (traceparent === undefined) return null;
  const match = TRACEPARENT.exec(traceparent);
  if (!match) return null;
  const [, version, traceId, parentId, more] = match;
  if (traceId === undefined || traceId === NO_TRACE || parentId === NO_SPAN) return null;
  // Only versions after 00 may append fields.
  return version === '00' && more !== undefined ? null : traceId;
}

// One read of the random source serves a few hundred calls: the read itself costs more than all the rest.
const POOL_BYTES = 16_384;
const READS_MAX = 4;
// The largest multiple of 62 in a byte: larger ones would favour the first digits and are dropped.
const UNBIASED = 248;

function createDigitPool(random: RandomBytes): (count: number) => string {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (count) => {
    if (used + count > pool.length) {
      pool = drawDigits(random, count);
      used = 0;
    }
    used += count;
    return pool.toString('latin1', used - count, used);
  };
}

function drawDigits(random: RandomBytes, atLeast: number): Buffer {
  const bytes = random(POOL_BYTES);
  let kept = 0;
  for (const byte of bytes) {
    if (byte < UNBIASED) bytes[kept++] = DIGITS.charCodeAt(byte % DIGITS.length);
  }
  if (kept < atLeast) throw new Error('The random source did not deliver usable bytes.');
  return bytes.subarray(0, kept);
}

function createHexPool(random: RandomBytes): (bytes: number, never: string) => string {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (count, never) => {
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      if (used + count > pool.length) {
        pool = random(POOL_BYTES);
        used = 0;
      }
      used += count;
      const drawn = pool.toString('hex', used - count, used);
      if (drawn !== never) return drawn;
      // Bytes of zeros suggest a broken source, so the rest of this pool is dropped.
      used = pool.length;
    }
    throw new Error('The random source did not deliver usable bytes.');
  };
}
