/** Compares long texts of spans with their copies in ClickHouse. */

import { hash } from 'node:crypto';
import type pg from 'pg';
import type { SpanText, WrittenText } from '../../clickhouse/texts.ts';
import { MOVED_MIN_BYTES, placeOf, referenceTo } from '../../rows/moved-text.ts';
import { COLUMNS, type Column, READ_SPANS, type SizedSpan, type SpanRow, type Trace } from './text-moves.ts';

/** Of text in memory; one span may have more. */
const BYTES_AT_ONCE = 4 * 1024 * 1024;
/** Of a project in a step; one trace may have more. */
const BYTES_OF_PROJECT = 16 * 1024 * 1024;

/** Copies of a text: those with the very text, and others. */
type Copies = { readonly same: readonly WrittenText[]; readonly others: readonly WrittenText[] };

export function createCopies(written: readonly WrittenText[]) {
  const known = Map.groupBy(written, keyOf);
  return {
    of(text: SpanText): Copies {
      const all = known.get(keyOf(text)) ?? [];
      const digest = hash('sha256', text.text);
      return {
        same: all.filter((each) => each.digest === digest),
        others: all.filter((each) => each.digest !== digest),
      };
    },
  };
}

type Comparing = {
  readonly copies: ReturnType<typeof createCopies>;
  /** Places that ClickHouse is still to be told to remove. */
  readonly leaving: ReadonlySet<string>;
  readonly nowMs: number;
  /** Younger copies do not count yet. */
  readonly writtenToMs: number;
};
export type References = { readonly [Each in Column]?: string };

/** What replaces texts in their columns, and what is left to do about those that stay and about copies that nothing needs. */
export function createReferences({ copies, leaving, nowMs, writtenToMs }: Comparing) {
  const missing: SpanText[] = [];
  const staying = new Set<number>();
  const surplus: string[] = [];

  function referenceOf(text: SpanText): string | undefined {
    const { same, others } = copies.of(text);
    const own = same.filter(({ place, writtenAtMs }) => !leaving.has(place) && writtenAtMs <= nowMs);
    const copy = own.find(({ writtenAtMs }) => writtenAtMs <= writtenToMs);
    if (own.length === 0) missing.push(text);
    if (copy === undefined) {
      staying.add(text.sequence);
      return undefined;
    }
    for (const { place } of [...same, ...others]) if (place !== copy.place) surplus.push(place);
    return referenceTo(copy.place, text.text);
  }

  return {
    /** Of the long texts of one span. */
    of: (texts: readonly SpanText[]): References =>
      Object.fromEntries(texts.map((text) => [text.name, referenceOf(text)])),
    missing,
    /** Sequences of traces of which a text stays for now. */
    staying,
    surplus,
  };
}

function keyOf({ sequence, spanId, name }: Pick<SpanText, 'sequence' | 'spanId' | 'name'>): string {
  return `${sequence} ${name} ${spanId}`;
}

/** The texts of a span that are long enough to move. */
export function longTextsOf(projectNumber: number, minBytes: number = MOVED_MIN_BYTES) {
  return ({ sequence, spanId, ...row }: SpanRow): readonly SpanText[] =>
    COLUMNS.flatMap((name): SpanText[] => {
      const text = row[name];
      const isLong = text !== null && Buffer.byteLength(text) >= minBytes && placeOf(text) === null;
      return isLong ? [{ projectNumber, sequence, spanId, name, text }] : [];
    });
}

const SPANS_AT_ONCE = 20_000;

/** The first traces, up to so many spans: they are gone through for the long ones. */
export function cutBySpans(traces: readonly Trace[]): readonly Trace[] {
  let left = SPANS_AT_ONCE;
  const end = traces.findIndex(({ spanCount }) => {
    left -= spanCount;
    return left <= 0;
  });
  return end < 0 ? traces : traces.slice(0, end + 1);
}

/** The first traces, up to so much text. */
export function cutTraces(traces: readonly Trace[], spans: readonly SizedSpan[]): readonly Trace[] {
  const bytes = new Map<number, number>();
  for (const span of spans) bytes.set(span.sequence, (bytes.get(span.sequence) ?? 0) + span.bytes);
  let left = BYTES_OF_PROJECT;
  const end = traces.findIndex(({ sequence }) => {
    left -= bytes.get(sequence) ?? 0;
    return left <= 0;
  });
  return end < 0 ? traces : traces.slice(0, end + 1);
}

/** Pages with up to so much text. */
export function cutByBytes<Row extends { readonly bytes: number }>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const pages: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.bytes;
    if (left < 0 || pages.length === 0) {
      pages.push([]);
      left = BYTES_AT_ONCE - row.bytes;
    }
    pages.at(-1)?.push(row);
  }
  return pages;
}

export async function readSpans(
  client: pg.ClientBase,
  projectNumber: number,
  spans: readonly SizedSpan[],
): Promise<readonly SpanRow[]> {
  const keys = [spans.map(({ sequence }) => sequence), spans.map(({ spanId }) => spanId)];
  return (await client.query<SpanRow>(READ_SPANS, [projectNumber, ...keys])).rows;
}
