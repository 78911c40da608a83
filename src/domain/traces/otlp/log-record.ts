/** An OpenTelemetry log record, read from either encoding, before it is interpreted. */

import type { LosslessJson } from '../../../json/lossless-json.ts';
import type { Sent } from '../collector/collector-draft.ts';
import type { Attributes, OtlpScope } from './span.ts';

export type OtlpRecord = {
  /** Lower-case hex, as is the id of the span; undefined: the record belongs to no trace. */
  readonly traceId: Sent<string>;
  readonly spanId: Sent<string>;
  /** Nanoseconds since the epoch: when it happened, else when it was observed; 0: unknown. */
  readonly timeNano: bigint;
  readonly eventName: string;
  readonly body: LosslessJson;
  readonly attributes: Attributes;
  readonly scope: OtlpScope;
  /** One object for all records of a resource. */
  readonly resource: Attributes;
};

/** A request to export log records. */
export type OtlpLogs = {
  /** In the order of the request. */
  readonly records: readonly Sent<OtlpRecord>[];
  /** No text of the request is longer. */
  readonly bytes: number;
  /** How deep the values of attributes and bodies nest. */
  readonly depth: number;
};
