/** Tells which log records of a request describe calls, which tell of a span, and which are not read. */

import type { Project } from '../../caller.ts';
import type { Steps } from '../../steps.ts';
import { type ItemReason, isUnreadable } from '../collector/collector-draft.ts';
import { createAttributeJson } from '../otlp/attribute-json.ts';
import type { OtlpLogs, OtlpRecord } from '../otlp/log-record.ts';
import type { OtlpEvent, OtlpExport, OtlpSpan } from '../otlp/span.ts';
import type { NamedSpan } from './log-record-store.ts';
import { toCallSpan } from './record-call.ts';
import { tellsOfSpan, toEvent } from './record-event.ts';
import { digestOfRecord, idsOfRepeated } from './record-ids.ts';
import { nameOf } from './record-name.ts';

export type SortedRecords = {
  readonly calls: OtlpExport;
  /** Records of spans, each as an event. */
  readonly events: readonly SpanEvent[];
  /** Records whose ids cannot be read. */
  readonly refused: readonly ItemReason[];
  /** How many records say nothing that is kept. */
  readonly unread: number;
};

export type SpanEvent = NamedSpan & { readonly index: number; readonly recordId: string; readonly event: OtlpEvent };

export function* sortRecords(logs: OtlpLogs, { id: projectId }: Pick<Project, 'id'>): Steps<SortedRecords> {
  const json = createAttributeJson(logs);
  const spans: OtlpSpan[] = [];
  const indexes: number[] = [];
  const events: SpanEvent[] = [];
  const refused: ItemReason[] = [];
  let unread = 0;
  for (const [index, record] of logs.records.entries()) {
    if (index > 0) yield;
    if (record === undefined || isUnreadable(record)) {
      refused.push({ index, reason: `: ${record?.reason ?? 'is required'}` });
      continue;
    }
    const wrong = [record.traceId, record.spanId].find(isUnreadable);
    if (wrong !== undefined) {
      refused.push({ index, reason: `.${wrong.path}: ${wrong.reason}` });
      continue;
    }
    const name = nameOf(record);
    const named = spanOf(record, name, projectId);
    if (named !== undefined && tellsOfSpan(name)) {
      events.push(eventOf(record, { named, name, index }));
      continue;
    }
    const call = toCallSpan(record, { name, projectId, json });
    if (call === undefined) unread += 1;
    // The spans of its trace tell of the call, too: a second span of it would count it twice.
    else if (named !== undefined) events.push(eventOf(record, { named, name, index }));
    else {
      spans.push(call);
      indexes.push(index);
    }
  }
  const { bytes, depth } = logs;
  return { calls: { spans, bytes, depth, madeOf: { itemsName: 'logRecords', indexes } }, events, refused, unread };
}

/** The span that a record tells of; undefined: it names none. */
function spanOf(record: OtlpRecord, name: string, projectId: string): NamedSpan | undefined {
  const { traceId, spanId } = record;
  if (typeof traceId === 'string' && typeof spanId === 'string') return { traceId, spanId };
  return idsOfRepeated(record, name, projectId);
}

type Named = Pick<SpanEvent, 'index'> & { readonly named: NamedSpan; readonly name: string };

function eventOf(record: OtlpRecord, { named, name, index }: Named): SpanEvent {
  return { ...named, index, recordId: digestOfRecord(record, name), event: toEvent(record, name) };
}
