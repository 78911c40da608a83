/** A span as the attribute table reads it, with the parsed JSON objects that several rows share. */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { Unreadable } from '../collector/collector-draft.ts';
import { isBlank } from '../collector/collector-json.ts';
import type { AttributeJson } from './attribute-json.ts';
import type { OtlpSpan } from './span.ts';

export type SpanView = {
  readonly span: OtlpSpan;
  readonly json: AttributeJson;
  /** The conventions and dialects that its attributes mark, for the functions of conventions.ts. */
  readonly marks: number;
  /** langwatch.metrics, by names in snake_case. */
  readonly metrics: LosslessObject;
  /** langwatch.timestamps, by names in snake_case. */
  readonly timestamps: LosslessObject;
  /** What stands in the place of these two. */
  readonly dropped: readonly Unreadable[];
};

/** Reads a value of a span; undefined when it has none. */
type Read<Value> = (view: SpanView) => Value | undefined;

/** Where a row takes a value from, and what docs/attributes.md says of it. */
export type Source<Value = LosslessJson> = Read<Value> & { readonly about: string };

/** Each function reads for one source: a wrapper around it would cost time for every span. */
export function createSource<Value>(about: string, read: Read<Value>): Source<Value> {
  return Object.assign(read, { about });
}

/** Operation names of the ai package. It may append the name of a function to them. */
export function operationsOf({ attributes, name }: OtlpSpan): readonly LosslessJson[] {
  const operation = attributes.get('operation.name');
  const first = typeof operation === 'string' ? operation.split(' ', 1)[0] : undefined;
  return [first, attributes.get('ai.operationId'), name].filter((each) => each !== undefined);
}

/** The first value that says something. */
export function first(view: SpanView, sources: readonly Source[]): LosslessJson | undefined {
  for (const source of sources) {
    const value = source(view);
    if (!isBlank(value)) return value;
  }
  return undefined;
}

/** The same for what people and models wrote: "none" may be an answer, unless a later source says more. */
export function firstContent(view: SpanView, sources: readonly Source[]): LosslessJson | undefined {
  let blank: LosslessJson | undefined;
  for (const source of sources) {
    const value = source(view);
    if (!isBlank(value)) return value;
    blank ??= value;
  }
  return blank ?? undefined;
}
