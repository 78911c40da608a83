/** Log records as they are kept for their spans. */

import type { Steps } from '../../steps.ts';
import type { ItemReason } from '../collector/collector-draft.ts';
import { beginItem, type CollectorLimits, createReading, readFreeJson } from '../collector/collector-reading.ts';
import type { OtlpLogs } from '../otlp/log-record.ts';
import { eventOf } from '../otlp/span-draft.ts';
import type { KeptRecord } from './log-record-store.ts';
import type { SpanEvent } from './sort-records.ts';

/** Levels of the stored span around an event. */
const DEPTH_AROUND = 2;
/** About what a record takes beside its text. */
const ROW_BYTES = 256;

type Reading = {
  readonly limits: CollectorLimits;
  readonly logs: Pick<OtlpLogs, 'bytes' | 'depth'>;
  readonly nowMs: number;
};

type Keepable = {
  readonly records: readonly KeptRecord[];
  /** Records that a span could not hold. */
  readonly refused: readonly ItemReason[];
  readonly notes: readonly string[];
};

/** Checks records as parts of spans are checked. */
export function* toKeepable(events: readonly SpanEvent[], { limits, logs, nowMs }: Reading): Steps<Keepable> {
  const reading = createReading({
    limits: { ...limits, freeJsonDepthMax: limits.freeJsonDepthMax - DEPTH_AROUND },
    facts: { bytes: logs.bytes, depth: logs.depth + DEPTH_AROUND, hasEscapes: true, hasWide: false },
    receivedAtMs: nowMs,
    traceId: '',
  });
  const records: KeptRecord[] = [];
  const refused: ItemReason[] = [];
  const notes: string[] = [];
  for (const { traceId, spanId, index, recordId, event } of events) {
    beginItem(reading, { toleratesFields: false });
    const eventJson = readFreeJson(eventOf(event), '', reading);
    if (eventJson === null) refused.push({ index, reason: reading.problem ?? '' });
    else records.push({ traceId, spanId, recordId, eventJson, bytes: Buffer.byteLength(eventJson) + ROW_BYTES });
    if (reading.cuts > 0) {
      notes.push(`logRecords[${index}]: ${reading.cuts} string(s) truncated to ${limits.stringMaxBytes} bytes`);
    }
    yield;
  }
  return { records, refused, notes };
}
