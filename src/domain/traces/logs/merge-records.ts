/** Adds records to the events of a span. */

import { canonicalJson } from '../../../json/canonical-json.ts';
import { parseFreeJson } from '../../../json/free-json.ts';
import type { OtlpEvent, OtlpSpan } from '../otlp/span.ts';
import { eventOf } from '../otlp/span-draft.ts';
import type { ListedRecord } from './log-record-store.ts';
import { toOtlpEvent } from './stored-span.ts';

export type Merged = {
  readonly span: OtlpSpan;
  /** Those of its events that it did not have. */
  readonly added: ReadonlySet<OtlpEvent>;
};

type TimedEvent = { readonly event: OtlpEvent; readonly text: string };

/**
 * The span with all records as events, behind its own; null: it has them all. The order of records does not depend on
 * the order in which they came.
 */
export function mergeRecords(span: OtlpSpan, records: readonly ListedRecord[]): Merged | null {
  const found = new Map<string, TimedEvent>();
  for (const { eventJson } of records) {
    const sent = parseFreeJson(eventJson);
    const text = canonicalJson(sent);
    found.set(text, { event: toOtlpEvent(sent), text });
  }
  const known = new Set<string>();
  const own: OtlpEvent[] = [];
  for (const event of span.events) {
    const text = canonicalJson(eventOf(event));
    if (found.has(text)) known.add(text);
    else own.push(event);
  }
  if (known.size === found.size) return null;
  const joined = [...found.values()].toSorted(inOrder);
  const added = joined.filter(({ text }) => !known.has(text));
  return {
    span: { ...span, events: [...own, ...joined.map(({ event }) => event)] },
    added: new Set(added.map(({ event }) => event)),
  };
}

function inOrder(one: TimedEvent, other: TimedEvent): number {
  if (one.event.timeNano !== other.event.timeNano) return one.event.timeNano < other.event.timeNano ? -1 : 1;
  return one.text < other.text ? -1 : 1;
}
