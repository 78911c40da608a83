/** Where the span of a request goes, and what the headers of its caller tell. */

import type { RandomBytes } from '../domain/clock.ts';
import { type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { SpanPlace } from '../domain/gateway/proxied-request.ts';
import { cutToCharacters } from '../domain/text-limits.ts';
import { parseLossless } from '../json/bounded-json.ts';
import { isObject, type LosslessObject } from '../json/lossless-json.ts';

type Header = (name: string) => string | undefined;

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SPAN_BYTES = 8;
const TRACE_BYTES = 16;

/** A trace context that is not valid counts as none (W3C Trace Context, 3.2.2). */
export function placeOf(header: Header, random: RandomBytes): SpanPlace {
  const spanId = random(SPAN_BYTES).toString('hex');
  const [, traceId = NO_TRACE, parentId = NO_SPAN] = TRACEPARENT.exec(header('traceparent')?.trim() ?? '') ?? [];
  if (traceId === NO_TRACE || parentId === NO_SPAN) {
    return { traceId: random(TRACE_BYTES).toString('hex'), parentId: null, spanId };
  }
  return { traceId, parentId, spanId };
}

const END_USER_HEADERS = ['x-langwatch-end-user-id', 'x-litellm-end-user-id'];
const ID_CHARACTERS_MAX = 256;

/** Null: no header names one. */
export function endUserIn(header: Header): string | null {
  const [id = null] = END_USER_HEADERS.flatMap((name) => textIn(header, name) ?? []);
  return id === null ? null : cutToCharacters(id, ID_CHARACTERS_MAX);
}

export function threadIn(header: Header): string | null {
  const id = textIn(header, 'x-langwatch-thread-id');
  return id === null ? null : cutToCharacters(id, ID_CHARACTERS_MAX);
}

const METADATA_MAX_BYTES = 4_096;
const METADATA_DEPTH_MAX = 32;

type SentMetadata = { readonly metadata: LosslessObject } | { readonly fault: GatewayFault };

export function metadataIn(header: Header): SentMetadata {
  const text = textIn(header, 'x-langwatch-metadata');
  if (text === null) return { metadata: {} };
  const isLong = Buffer.byteLength(text) > METADATA_MAX_BYTES;
  const parsed = isLong ? null : parseLossless(text, { depth: METADATA_DEPTH_MAX });
  if (parsed?.kind === 'value' && isObject(parsed.value)) return { metadata: parsed.value };
  const message = `The header x-langwatch-metadata must be a JSON object of at most ${METADATA_MAX_BYTES} bytes.`;
  return { fault: gatewayFault(400, 'invalid_request', message, { param: 'x-langwatch-metadata' }) };
}

/** Clients send UTF-8, which Node reads byte by byte. */
function textIn(header: Header, name: string): string | null {
  const text = header(name)?.trim() ?? '';
  return text === '' ? null : Buffer.from(text, 'latin1').toString('utf8').toWellFormed();
}
