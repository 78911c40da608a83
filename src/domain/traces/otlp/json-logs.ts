/** Reads a request to export log records in JSON. */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { checkCount } from '../collector/collector.ts';
import { isUnreadable, type Sent, type Unreadable, unreadable } from '../collector/collector-draft.ts';
import { unlessTooWide } from './attributes.ts';
import { toRecordSpanId, toRecordTraceId } from './ids.ts';
import { countJsonRecords, type Size } from './json-export.ts';
import {
  anyValueOf,
  listOf,
  nanoOf,
  objectAt,
  readAttributes,
  readObject,
  readResource,
  readScope,
  textOf,
  unlessWrong,
} from './json-values.ts';
import type { OtlpLogs, OtlpRecord } from './log-record.ts';

/** Throws malformed_request when the body has not the shape of an export, and payload_too_large. */
export function* readJsonLogs(body: LosslessJson, { bytes, depth }: Size, recordsMax: number): Steps<OtlpLogs> {
  checkCount(countJsonRecords(body, ['resourceLogs', 'scopeLogs', 'logRecords']), 'log records', recordsMax);
  const records: Sent<OtlpRecord>[] = [];
  for (const part of listOf(objectAt(body, 'the request'), 'resourceLogs')) {
    const ofResource: Unreadable[] = [];
    const resource = unlessTooWide(() => readResource(part, ofResource));
    for (const group of listOf(part, 'scopeLogs')) {
      const dropped = [...ofResource];
      const scope = readScope(group, dropped);
      for (const record of listOf(group, 'logRecords')) {
        records.push(
          isUnreadable(resource) ? resource : unlessTooWide(() => readRecord(record, { resource, scope, dropped })),
        );
        yield;
      }
    }
  }
  return { records, bytes, depth };
}

type Around = Pick<OtlpRecord, 'resource' | 'scope'> & { readonly dropped: readonly Unreadable[] };

/** Unreadable where any of its fields is, or one that it shares with others. */
function readRecord(record: LosslessObject, { resource, scope, dropped: shared }: Around): OtlpRecord | Unreadable {
  const dropped = [...shared];
  const [atNano, observedNano] = [nanoOf(record, 'timeUnixNano'), nanoOf(record, 'observedTimeUnixNano')];
  const timeNano = unlessWrong(atNano, dropped) || unlessWrong(observedNano, dropped) || 0n;
  const textIn = (name: string) => unlessWrong(textOf(record, name), dropped) ?? '';
  const read: OtlpRecord = {
    traceId: toRecordTraceId(textIn('traceId')),
    spanId: toRecordSpanId(textIn('spanId')),
    timeNano,
    eventName: textIn('eventName'),
    body: unlessWrong(anyValueOf(readObject(record, 'body', dropped)), dropped) ?? null,
    attributes: readAttributes(record, dropped),
    resource,
    scope,
  };
  const [first] = dropped;
  return first === undefined ? read : unreadable('', `${first.path} ${first.reason}`);
}
