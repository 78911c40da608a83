/** Log records that describe a call of a model which no span tells of, as spans. */

import type { LosslessJson } from '../../../json/lossless-json.ts';
import { isUnreadable } from '../collector/collector-draft.ts';
import { isBlank, toFigure } from '../collector/collector-json.ts';
import type { AttributeJson } from '../otlp/attribute-json.ts';
import { MODEL } from '../otlp/attribute-table.ts';
import { EVENT_NAME, isAnsweredCall, isFailedCall } from '../otlp/conventions/coding-agents.ts';
import { marksUsage } from '../otlp/conventions/conventions.ts';
import { createView } from '../otlp/create-view.ts';
import type { OtlpRecord } from '../otlp/log-record.ts';
import { type OtlpSpan, SPAN_KINDS, STATUS_ERROR } from '../otlp/span.ts';
import { first } from '../otlp/span-view.ts';
import { eventAttributes } from './record-event.ts';
import { idsOfCall, timestampNano } from './record-ids.ts';

const CLIENT = SPAN_KINDS.indexOf('SPAN_KIND_CLIENT');
const NANO_PER_MS = 1_000_000;
/** Longer calls than this are mistakes: a day. */
const DURATION_MAX_MS = 86_400_000;
const ERRORS = ['error.message', 'error', 'error.type'];

export type CallContext = {
  readonly name: string;
  readonly projectId: string;
  readonly json: AttributeJson;
};

/** undefined: the record describes no call, which has a model and usage, or failed. */
export function toCallSpan(record: OtlpRecord, { name, projectId, json }: CallContext): OtlpSpan | undefined {
  const isFailed = isFailedCall(name);
  if (!isFailed && !isAnsweredCall(name) && !name.startsWith('gen_ai.')) return undefined;
  const timed = record.timeNano === 0n ? { ...record, timeNano: timestampNano(record) } : record;
  const span = spanOf(timed, { name, projectId });
  const view = createView(span, json);
  const describesCall = (isFailed || marksUsage(view.marks)) && !isBlank(first(view, MODEL));
  return describesCall ? span : undefined;
}

function spanOf(record: OtlpRecord, { name, projectId }: Omit<CallContext, 'json'>): OtlpSpan {
  const { timeNano, scope, resource } = record;
  const attributes = eventAttributes(record, name);
  const error = ERRORS.map((key) => attributes.get(key)).find((value) => !isBlank(value));
  return {
    ...idsOfCall(record, name, projectId),
    parentId: undefined,
    name,
    kind: CLIENT,
    // A record is written when the call has ended.
    startNano: timeNano - durationNano(attributes.get('duration_ms'), timeNano),
    endNano: timeNano,
    attributes: attributes.has(EVENT_NAME) ? attributes : new Map([...attributes, [EVENT_NAME, name]]),
    events: [],
    links: [],
    status:
      error === undefined && !isFailedCall(name)
        ? { code: 0, message: '' }
        : { code: STATUS_ERROR, message: typeof error === 'string' ? error : '' },
    scope,
    resource,
  };
}

function durationNano(sent: LosslessJson | undefined, timeNano: bigint): bigint {
  const durationMs = toFigure(sent, 'duration_ms');
  if (durationMs === undefined || isUnreadable(durationMs)) return 0n;
  if (!(durationMs > 0 && durationMs <= DURATION_MAX_MS)) return 0n;
  const nano = BigInt(Math.round(durationMs * NANO_PER_MS));
  return nano < timeNano ? nano : 0n;
}
