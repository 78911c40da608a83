/** Reads the log records of an encoded export request. The field numbers are OpenTelemetry's. */

import { WireType } from '@bufbuild/protobuf/wire';
import type { Steps } from '../../domain/steps.ts';
import { toRecordSpanId, toRecordTraceId } from '../../domain/traces/otlp/ids.ts';
import type { OtlpLogs, OtlpRecord } from '../../domain/traces/otlp/log-record.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import { type Around, type Range, readWireItems } from './otlp-wire-items.ts';
import {
  delimited,
  FIELDS_PER_STEP,
  leave,
  nextTag,
  readAttributeInto,
  readHex,
  readText,
  readValue,
  skip,
  type Wire,
} from './otlp-wire-values.ts';

/** Throws malformed_request, and payload_too_large for too many records or parts. */
export function* readWireLogs(bytes: Uint8Array, recordsMax: number): Steps<OtlpLogs> {
  const reading = { name: 'log records', itemsMax: recordsMax, read: readRecord };
  const { items: records, ...facts } = yield* readWireItems(bytes, reading);
  return { records, ...facts };
}

const TIME = (1 << 3) | WireType.Bit64;
const BODY = delimited(5);
const ATTRIBUTE = delimited(6);
const TRACE_ID = delimited(9);
const SPAN_ID = delimited(10);
const OBSERVED_TIME = (11 << 3) | WireType.Bit64;
const EVENT_NAME = delimited(12);

function* readRecord(wire: Wire, { start, end }: Range, around: Around): Steps<OtlpRecord> {
  const { reader } = wire;
  const attributes = new Map<string, LosslessJson>();
  let [traceId, spanId, eventName] = ['', '', ''];
  let [timeNano, observedNano, count] = [0n, 0n, 0];
  let body: LosslessJson = null;
  reader.pos = start;
  let pauseAt = wire.fields + FIELDS_PER_STEP;
  while (reader.pos < end) {
    const tag = nextTag(wire);
    if (wire.fields > pauseAt) {
      yield;
      pauseAt = wire.fields + FIELDS_PER_STEP;
    }
    if (tag === ATTRIBUTE) readAttributeInto(attributes, wire, ++count);
    else if (tag === BODY) body = readValue(wire, 1);
    else if (tag === TIME) timeNano = BigInt(reader.fixed64());
    else if (tag === OBSERVED_TIME) observedNano = BigInt(reader.fixed64());
    else if (tag === TRACE_ID) traceId = readHex(wire);
    else if (tag === SPAN_ID) spanId = readHex(wire);
    else if (tag === EVENT_NAME) eventName = readText(wire);
    else skip(wire, tag);
  }
  leave(wire, end);
  return {
    traceId: toRecordTraceId(traceId),
    spanId: toRecordSpanId(spanId),
    timeNano: timeNano === 0n ? observedNano : timeNano,
    eventName,
    body,
    attributes,
    ...around,
  };
}
