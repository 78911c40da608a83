/** Turns an OpenTelemetry span into a draft of the collector. */

import { scalarText } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import {
  type ErrorDraft,
  isUnreadable,
  type Sent,
  type SpanDraft,
  type Unreadable,
} from '../collector/collector-draft.ts';
import { findHttpStatus } from '../collector/collector-error.ts';
import { isBlank, toFigure, toText } from '../collector/collector-json.ts';
import type { AttributeJson } from './attribute-json.ts';
import { ERROR_FLAGS, ERROR_KINDS, ERROR_MESSAGES, MODEL, RATES, VENDOR } from './attribute-table.ts';
import { nameOf } from './conventions/ai-sdk.ts';
import { figureOf } from './conventions/sources.ts';
import { createView } from './create-view.ts';
import { type OtlpEvent, type OtlpSpan, SPAN_KINDS, STATUS_CODES, STATUS_ERROR } from './span.ts';
import { typeOf } from './span-type.ts';
import { first, type SpanView } from './span-view.ts';
import { timesOf } from './times.ts';
import { metricsOf } from './usage.ts';
import { contextsOf, inputOf, outputOf, paramsOf } from './values.ts';

export function toSpanDraft(span: OtlpSpan, json: AttributeJson): SpanDraft {
  const view = createView(span, json);
  const { metrics, dropped: droppedMetrics } = metricsOf(view);
  const { times, dropped: droppedTimes } = timesOf(view);
  const { rates, dropped: droppedRates } = ratesOf(view);
  const { params, dropped: droppedParams } = paramsOf(view);
  return {
    spanId: span.spanId,
    traceId: span.traceId,
    parentId: span.parentId,
    type: typeOf(view),
    name: nameOf(span),
    vendor: toText(first(view, VENDOR), 'vendor'),
    model: toText(first(view, MODEL), 'model'),
    input: inputOf(view),
    output: outputOf(view),
    params,
    metrics,
    error: failureOf(span),
    contexts: contextsOf(view),
    ...times,
    rates,
    dropped: [
      ...(span.dropped ?? []),
      ...view.dropped,
      ...droppedMetrics,
      ...droppedTimes,
      ...droppedRates,
      ...droppedParams,
    ],
    telemetry: telemetryOf(span),
  };
}

type Rates = { readonly rates: SpanDraft['rates']; readonly dropped: readonly Unreadable[] };

function ratesOf({ span: { attributes } }: SpanView): Rates {
  const input = toFigure(attributes.get(RATES.input), 'rates.input');
  const output = toFigure(attributes.get(RATES.output), 'rates.output');
  const dropped = [input, output].filter(isUnreadable);
  // One rate without the other would be a wrong price.
  if (dropped.length > 0 || (input === undefined && output === undefined)) return { rates: undefined, dropped };
  return { rates: { inputUsdPerToken: rateOf(input), outputUsdPerToken: rateOf(output) }, dropped };
}

function rateOf(sent: Sent<number>): number {
  return typeof sent === 'number' ? sent : 0;
}

/** The OpenTelemetry data of the span; ids and instants as OpenTelemetry writes them in JSON. */
function telemetryOf(span: OtlpSpan): LosslessObject {
  return {
    attributes: Object.fromEntries(span.attributes),
    resource_attributes: Object.fromEntries(span.resource),
    scope: span.scope,
    kind: SPAN_KINDS[span.kind] ?? SPAN_KINDS[0],
    status: { code: STATUS_CODES[span.status.code] ?? STATUS_CODES[0], message: span.status.message },
    events: span.events.map(eventOf),
    links: span.links.map(({ traceId, spanId, traceState, attributes }) => ({
      trace_id: traceId,
      span_id: spanId,
      trace_state: traceState,
      attributes: Object.fromEntries(attributes),
    })),
  };
}

/** An event as it is stored. */
export function eventOf({ name, timeNano, attributes }: OtlpEvent): LosslessObject {
  return { name, time_unix_nano: String(timeNano), attributes: Object.fromEntries(attributes) };
}

/** The event of any span, and the log record of a call. */
const EXCEPTIONS: ReadonlySet<string> = new Set(['exception', 'gen_ai.client.operation.exception']);
const UNKNOWN = 'Unknown error';
const HTTP_STATUSES = ['http.response.status_code', 'http.status_code', 'status_code'];

/** undefined: no error. */
function failureOf({ status, attributes, events }: OtlpSpan): ErrorDraft | undefined {
  const isError = status.code === STATUS_ERROR || ERROR_FLAGS.some(([key, value]) => attributes.get(key) === value);
  if (!isError) return undefined;
  const exception = events.findLast(({ name }) => EXCEPTIONS.has(name))?.attributes;
  const messages = [
    exception?.get('exception.message'),
    ...ERROR_MESSAGES.map((key) => attributes.get(key)),
    status.message,
  ];
  const stacktrace = textOf(exception?.get('exception.stacktrace')) ?? textOf(attributes.get('exception.stacktrace'));
  const kinds = [exception?.get('exception.type'), ...ERROR_KINDS.map((key) => attributes.get(key))];
  const kind = firstText(kinds);
  return {
    // The name of the error says more than nothing.
    message: firstText(messages) ?? kind ?? UNKNOWN,
    stacktrace,
    kind,
    httpStatus: findHttpStatus(HTTP_STATUSES.map((key) => figureOf(attributes.get(key)))),
  };
}

function firstText(values: readonly (LosslessJson | undefined)[]): string | undefined {
  return values.map(textOf).find((text) => text !== undefined);
}

/** Ignores arrays and objects: their text would escape the cut of strings. */
function textOf(value: LosslessJson | undefined): string | undefined {
  if (isBlank(value)) return undefined;
  return typeof value === 'string' ? value : (scalarText(value) ?? undefined);
}
