/** Reads a request to export log records in JSON. */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { checkCount } from '../collector/collector.ts';
import { isUnreadable, type Sent } from '../collector/collector-draft.ts';
import { unlessTooWide } from './attributes.ts';
import { toRecordSpanId, toRecordTraceId } from './ids.ts';
import { countJsonRecords, type Size } from './json-export.ts';
import { anyValueOf, listOf, memberObject, nanoOf, objectAt, readAttributes, readScope, text } from './json-values.ts';
import type { OtlpLogs, OtlpRecord } from './log-record.ts';

/** Throws malformed_request when the body has not the shape of an export, and payload_too_large. */
export function* readJsonLogs(body: LosslessJson, { bytes, depth }: Size, recordsMax: number): Steps<OtlpLogs> {
  checkCount(countJsonRecords(body, ['resourceLogs', 'scopeLogs', 'logRecords']), 'log records', recordsMax);
  const records: Sent<OtlpRecord>[] = [];
  for (const part of listOf(objectAt(body, 'the request'), 'resourceLogs')) {
    const resource = unlessTooWide(() => readAttributes(memberObject(part, 'resource')));
    for (const group of listOf(part, 'scopeLogs')) {
      const scope = readScope(memberObject(group, 'scope'));
      for (const record of listOf(group, 'logRecords')) {
        records.push(isUnreadable(resource) ? resource : unlessTooWide(() => readRecord(record, { resource, scope })));
        yield;
      }
    }
  }
  return { records, bytes, depth };
}

function readRecord(record: LosslessObject, around: Pick<OtlpRecord, 'resource' | 'scope'>): OtlpRecord {
  const timeNano = nanoOf(record.timeUnixNano);
  return {
    traceId: toRecordTraceId(text(record, 'traceId')),
    spanId: toRecordSpanId(text(record, 'spanId')),
    timeNano: timeNano === 0n ? nanoOf(record.observedTimeUnixNano) : timeNano,
    eventName: text(record, 'eventName'),
    body: anyValueOf(memberObject(record, 'body')),
    attributes: readAttributes(record),
    ...around,
  };
}
