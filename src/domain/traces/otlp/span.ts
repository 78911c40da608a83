/** An OpenTelemetry span, read from either encoding, before its attributes are interpreted. */

import type { LosslessJson } from '../../../json/lossless-json.ts';
import type { Sent, Unreadable } from '../collector/collector-draft.ts';

/** By key; of equal keys the last. Values keep their types. */
export type Attributes = ReadonlyMap<string, LosslessJson>;

export type OtlpSpan = {
  /** Lower-case hex, as are the other ids. */
  readonly traceId: Sent<string>;
  readonly spanId: Sent<string>;
  /** undefined: a root. */
  readonly parentId: Sent<string>;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since the epoch. */
  readonly startNano: bigint;
  /** 0: the span ends at its start. */
  readonly endNano: bigint;
  readonly attributes: Attributes;
  readonly events: readonly OtlpEvent[];
  readonly links: readonly OtlpLink[];
  readonly status: { readonly code: number; readonly message: string };
  readonly scope: OtlpScope;
  /** One object for all spans of a resource. */
  readonly resource: Attributes;
  /** Fields of a wrong type, which JSON may have. */
  readonly dropped?: readonly Unreadable[] | undefined;
};

export type OtlpEvent = { readonly name: string; readonly timeNano: bigint; readonly attributes: Attributes };

export type OtlpLink = {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: Attributes;
};

export type OtlpScope = { readonly name: string; readonly version: string };

/** A request to export spans. */
export type OtlpExport = {
  /** In the order of the request. */
  readonly spans: readonly Sent<OtlpSpan>[];
  /** No text of the request is longer. */
  readonly bytes: number;
  /** How deep the values of attributes nest. */
  readonly depth: number;
  /** What the request has instead of spans, and their indexes there. */
  readonly madeOf?: { readonly itemsName: string; readonly indexes: readonly number[] };
};

export const SPAN_KINDS = [
  'SPAN_KIND_UNSPECIFIED',
  'SPAN_KIND_INTERNAL',
  'SPAN_KIND_SERVER',
  'SPAN_KIND_CLIENT',
  'SPAN_KIND_PRODUCER',
  'SPAN_KIND_CONSUMER',
] as const;

export const STATUS_CODES = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR'] as const;
export const STATUS_ERROR = 2;
