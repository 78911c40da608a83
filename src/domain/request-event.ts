/** Request events: what an llm span says about the request behind it, and the envelope it becomes. */

import { hash } from 'node:crypto';
import { SCHEMA_VERSION } from './event.ts';
import { isArray, isObject, parseFreeJson } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import { nanoToUsdText } from './money.ts';
import { cutToCharacters, hasMoreBytesThan } from './text-limits.ts';
import type { Span, SpanRequest, TraceAppend } from './trace.ts';

const REQUEST_ID = /^[\x21-\x2b\x2d-\x7e]{1,256}$/;
const REQUEST_ID_MEMBER = '"gateway_request_id"';
const HASH_DIGITS = 30;
const REHASHES_MAX = 8;
const LABELS_MAX = 64;
const LABEL_CHARACTERS_MAX = 256;
const METADATA_BYTES_MAX = 4096;
const NONCHARACTERS = /[\ufffe\uffff]/g;
// What the metadata of a trace holds beside the keys of the sender's own.
const KNOWN_METADATA_KEYS: ReadonlySet<string> = new Set(['user_id', 'thread_id', 'customer_id', 'labels']);

/** The id a gateway gave the call, when the parameters carry one; else one that follows from the span alone. */
export function gatewayRequestId(traceId: string, spanId: string, params: LosslessObject | null): string {
  const reported = params?.gateway_request_id;
  if (typeof reported === 'string' && REQUEST_ID.test(reported)) return reported;
  return hashedRequestId(`${escapePart(traceId)}/${escapePart(spanId)}`);
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

const SUFFIXES = { completed: ':completed', settled: ':settled', correction: ':completed:2' } as const satisfies Record<
  EventKind,
  string
>;
const KINDS: readonly EventKind[] = ['completed', 'settled', 'correction'];

/** The id of an event; `base` is one of the request keys. */
export function eventIdOf(base: string, kind: EventKind): string {
  return base + SUFFIXES[kind];
}

/** The inverse of eventIdOf; null for ids no request event has. */
export function parseEventId(id: string): { readonly base: string; readonly kind: EventKind } | null {
  for (const kind of KINDS) {
    const suffix = SUFFIXES[kind];
    if (id.length > suffix.length && id.endsWith(suffix)) return { base: id.slice(0, -suffix.length), kind };
  }
  return null;
}

export type CompletedArgs = {
  readonly eventId: string;
  readonly request: SpanRequest;
  readonly span: Span;
  readonly append: Pick<TraceAppend, 'projectId' | 'organizationId' | 'traceId'>;
  readonly metadata: EventMetadata;
};

/** Compact JSON text of the data of a completed event. The order of the members is part of the contract. */
export function completedData({ eventId, request, span, append, metadata }: CompletedArgs): string {
  const durationMs = Math.max(0, span.finishedAtMs - span.startedAtMs);
  return (
    `{"event_id":${JSON.stringify(eventId)},"event_type":"gateway.request.completed"` +
    `,"gateway_request_id":${JSON.stringify(request.gatewayRequestId)}` +
    `,"occurred_at":"${new Date(span.finishedAtMs).toISOString()}"` +
    `,"organization_id":${JSON.stringify(append.organizationId)},"project_id":${JSON.stringify(append.projectId)}` +
    `,"virtual_key_id":"","principal_user_id":null,"end_user_id":${metadata.userIdJson}` +
    `,"trace_id":${JSON.stringify(append.traceId)},"model":${JSON.stringify(span.model)}` +
    `,"model_provider_id":null,"request_type":${JSON.stringify(request.requestType)}` +
    `,"usage":${usageText(span)},"cost":${costText(span, request)}` +
    `,"status":"${span.errorJson === null ? 'success' : 'error'}","needs_reconciliation":null,"settle_reason":null` +
    `,"error":${errorText(span, request)},"duration_ms":${durationMs}` +
    `,"labels":${metadata.labelsJson},"metadata":${metadata.customJson}}`
  );
}

function usageText(span: Span): string {
  const { promptTokens, completionTokens, reasoningTokens, cacheReadInputTokens, cacheCreationInputTokens } = span;
  const isCounted =
    promptTokens !== null ||
    completionTokens !== null ||
    reasoningTokens !== null ||
    cacheReadInputTokens !== null ||
    cacheCreationInputTokens !== null;
  if (!isCounted) return 'null';
  return (
    `{"input_tokens":${promptTokens ?? 0},"output_tokens":${completionTokens ?? 0}` +
    `,"cache_read_input_tokens":${cacheReadInputTokens ?? 0}` +
    `,"cache_creation_input_tokens":${cacheCreationInputTokens ?? 0},"reasoning_tokens":${reasoningTokens ?? 0}}`
  );
}

function costText({ costNanoUsd }: Span, { rateVersion }: SpanRequest): string {
  if (costNanoUsd === null) return 'null';
  const totalUsd = nanoToUsdText(costNanoUsd);
  return `{"total_usd":"${totalUsd}","nano_usd":${costNanoUsd},"rate_version":${JSON.stringify(rateVersion)}}`;
}

function errorText(span: Span, { errorClass, httpStatus }: SpanRequest): string {
  return span.errorJson === null ? 'null' : `{"class":${JSON.stringify(errorClass)},"http_status":${httpStatus}}`;
}

/** What events tell of the metadata of a trace, as JSON texts: all events of an append share them. */
export type EventMetadata = {
  readonly userIdJson: string;
  readonly labelsJson: string;
  readonly customJson: string;
};

const NO_METADATA: EventMetadata = { userIdJson: 'null', labelsJson: '[]', customJson: '{}' };

/** Takes from the merged metadata of a trace what its events tell. Slow for large metadata: once per append. */
export function readEventMetadata(metadataJson: string): EventMetadata {
  if (metadataJson === '{}') return NO_METADATA;
  const metadata = parseFreeJson(metadataJson);
  if (!isObject(metadata)) return NO_METADATA;
  const { user_id: userId, labels } = metadata;
  return {
    userIdJson: typeof userId === 'string' ? JSON.stringify(userId) : 'null',
    labelsJson: isArray(labels) ? labelsText(labels.filter((label) => typeof label === 'string')) : '[]',
    customJson: customText(metadata),
  };
}

function labelsText(labels: readonly string[]): string {
  return JSON.stringify(labels.slice(0, LABELS_MAX).map((label) => cutToCharacters(label, LABEL_CHARACTERS_MAX)));
}

function customText(metadata: LosslessObject): string {
  const keys = Object.keys(metadata).filter((key) => !KNOWN_METADATA_KEYS.has(key));
  // Most of what is too large is seen to be so before any text is built.
  let bytesLeft = METADATA_BYTES_MAX;
  for (const key of keys) {
    bytesLeft = spendBytes(metadata[key] ?? null, bytesLeft - key.length);
    if (bytesLeft < 0) return '{}';
  }
  const text = `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(metadata[key])}`).join(',')}}`;
  return hasMoreBytesThan(text, METADATA_BYTES_MAX) ? '{}' : text;
}

/** What is left of `bytes` after the least that the text of the value can take; it stops looking below 0. */
function spendBytes(value: LosslessJson, bytes: number): number {
  if (typeof value === 'string') return bytes - value.length;
  let left = bytes - 1;
  if (isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1) left = spendBytes(value[index] ?? null, left);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (left < 0) break;
      left = spendBytes(value[key] ?? null, left - key.length);
    }
  }
  return left;
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
