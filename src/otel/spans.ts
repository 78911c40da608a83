/**
 * Spans of the server itself: its requests, what they ask of model providers, and deliveries of webhooks. They name
 * routes, statuses and codes: no body, key, query or id of the data. Loaded only where SPANDREL_OTEL is on.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac } from 'node:crypto';
import {
  type Attributes,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { DeliveryMeter } from '../delivery/meter.ts';
import type { OtlpExport } from '../domain/traces/otlp/span.ts';
import type { Upstream } from '../gateway/upstream.ts';
import type { CallIds } from '../rpc/method.ts';
import type { IdSource } from '../transport/call-ids.ts';
import type { CallLog } from '../transport/call-log.ts';
import { type ExportDeps, startExporting } from './exporting.ts';

/** Both mark what this server sends, for every process of its installation; a collector in between passes on the latter. */
const OWN_HEADER = 'x-spandrel-own-spans';
const OWN_ATTRIBUTE = 'spandrel.installation';
const MARK_LENGTH = 32;
const TRACE_ID_HEX = 32;
/** Asked all the time by machines. */
const UNTRACED = new Set(['/healthz', '/readyz', '/metrics', '/assets/{file}']);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ERROR_STATUS_MIN = 500;
/** More than any request asks. */
const ATTEMPTS_MAX = 32;

type SpanDeps = Omit<ExportDeps, 'headers' | 'resource'> & {
  readonly clock: () => number;
  readonly monotonicMs: () => number;
  /** Of which the mark is derived. */
  readonly secretKey: Buffer;
};

/** What is not known yet of a span whose parent has not ended. */
type Ended = {
  readonly name: string;
  readonly kind: SpanKind;
  readonly endMs: number;
  readonly durationMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
};

/** Of one request. */
type Request = {
  /** The caller's span, of which this one is a part. */
  readonly parent: SpanContext | null;
  readonly attempts: Ended[];
};

export type Spans = Awaited<ReturnType<typeof startSpans>>;

export async function startSpans({ clock, monotonicMs, secretKey, ...deps }: SpanDeps) {
  const mark = createHmac('sha256', secretKey).update('spandrel/own-spans/v1').digest('hex').slice(0, MARK_LENGTH);
  const marks = { headers: { [OWN_HEADER]: mark }, resource: { [OWN_ATTRIBUTE]: mark } };
  const exporting = await startExporting({ ...deps, ...marks });
  const requests = new WeakMap<CallIds, Request>();
  const running = new AsyncLocalStorage<Request>();

  function write(ended: Ended, parent: Context, ids: Pick<CallIds, 'traceId' | 'spanId'> | null): SpanContext {
    const { name, kind, attributes, endMs, durationMs, isError } = ended;
    const options = { kind, attributes, startTime: instantOf(endMs - durationMs) };
    const span = exporting.start(ids, (tracer) => tracer.startSpan(name, options, parent));
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(instantOf(endMs));
    return span.spanContext();
  }

  function endRequest(call: Parameters<CallLog['ended']>[0]): void {
    const request = requests.get(call.ids);
    if (request === undefined || (call.route !== null && UNTRACED.has(call.route))) return;
    const { parent, attempts } = request;
    const ended = describe(call, { endMs: clock(), durationMs: monotonicMs() - call.startedAtMs });
    const own = write(ended, parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent), call.ids);
    for (const attempt of attempts) write(attempt, trace.setSpanContext(ROOT_CONTEXT, own), null);
  }

  return {
    /** The same ids, whose requests become spans, except those that bring spans of the server itself. */
    watchIds: (source: IdSource): IdSource => ({
      next(header) {
        const ids = source.next(header);
        if (header(OWN_HEADER) !== mark)
          requests.set(ids, { parent: parentOf(header('traceparent'), ids.traceId), attempts: [] });
        return ids;
      },
    }),
    watchCalls: (log: CallLog): CallLog => ({
      ...log,
      ended(call) {
        log.ended(call);
        endRequest(call);
      },
    }),
    /** Runs work of a request, so that what it asks of providers is part of its span. */
    within<T>(ids: CallIds, work: () => T): T {
      const request = requests.get(ids);
      return request === undefined ? work() : running.run(request, work);
    },
    watchUpstream: (upstream: Upstream): Upstream => ({
      ...upstream,
      async send(sent) {
        const startedAtMs = monotonicMs();
        const answer = await upstream.send(sent);
        const attempts = running.getStore()?.attempts;
        if (attempts === undefined || attempts.length >= ATTEMPTS_MAX) return answer;
        const isAnswered = answer.kind === 'answered';
        attempts.push({
          ...{ name: `${sent.method} model provider`, kind: SpanKind.CLIENT },
          ...{ endMs: clock(), durationMs: monotonicMs() - startedAtMs },
          attributes: {
            'http.request.method': sent.method,
            ...(isAnswered ? { 'http.response.status_code': answer.status } : { 'error.type': answer.reason }),
          },
          isError: !isAnswered || answer.status >= ERROR_STATUS_MIN,
        });
        return answer;
      },
    }),
    /** Traces of their own: a delivery has events of many requests. */
    watchDeliveries: (meter: DeliveryMeter): DeliveryMeter => ({
      ...meter,
      attempt(attempt) {
        meter.attempt(attempt);
        const { kind, outcome, reason, seconds } = attempt;
        const isError = outcome !== 'success';
        const attributes = { 'spandrel.webhook.kind': kind, 'spandrel.webhook.outcome': outcome };
        const ended = { name: `webhook ${kind}`, kind: SpanKind.CLIENT, endMs: clock(), durationMs: seconds * 1_000 };
        const because = isError ? { 'error.type': reason } : {};
        write({ ...ended, attributes: { ...attributes, ...because }, isError }, ROOT_CONTEXT, null);
      },
    }),
    /** A request that brings nothing but spans of the server itself becomes none. */
    noteSpans({ spans }: OtlpExport, ids: CallIds): void {
      const isOwn = (span: (typeof spans)[number]) =>
        span !== undefined && 'resource' in span && span.resource.get(OWN_ATTRIBUTE) === mark;
      if (spans.length > 0 && spans.every(isOwn)) requests.delete(ids);
    },
    stop: exporting.stop,
  };
}

function describe(
  { transport, method, route, status, fault, caller }: Parameters<CallLog['ended']>[0],
  time: Pick<Ended, 'endMs' | 'durationMs'>,
): Ended {
  const verb = method !== null && METHODS.has(method) ? method : '_OTHER';
  const isRest = transport === 'rest';
  const isError = status >= ERROR_STATUS_MIN;
  const rpc = { 'rpc.system': isRest ? undefined : transport, 'rpc.method': isRest ? undefined : (route ?? undefined) };
  return {
    ...time,
    name: isRest ? [verb, route].filter((part) => part !== null).join(' ') : (route?.slice(1) ?? transport),
    kind: SpanKind.SERVER,
    attributes: {
      'http.request.method': verb,
      ...(isRest && route !== null ? { 'http.route': route } : rpc),
      'http.response.status_code': status,
      'spandrel.caller': caller,
      ...(fault === null ? {} : { 'error.type': fault.code }),
    },
    isError,
  };
}

/** `traceparent` was checked when the trace id was taken from it; else the trace begins here. */
function parentOf(traceparent: string | undefined, traceId: string): SpanContext | null {
  const [, ofCaller, spanId = '', flags = ''] = traceparent?.split('-') ?? [];
  if (ofCaller !== traceId || traceId.length !== TRACE_ID_HEX) return null;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

function instantOf(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000);
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1e6)];
}
