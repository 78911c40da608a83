/** Compares long texts of spans with their copies in ClickHouse. */

import type pg from 'pg';
import type { SpanText, TextKey, WrittenText } from '../../clickhouse/texts.ts';
import { COLUMNS, type Column, READ_DIGESTS, READ_TEXTS, type SpanKey, type SpanRow } from './text-moves.ts';

/** Of text in memory; one span may have more. */
export const BYTES_AT_ONCE = 4 * 1024 * 1024;

/** Copies of a text: those with the very text, and others. */
type Copies = { readonly same: readonly WrittenText[]; readonly others: readonly WrittenText[] };
type HashedText = Pick<WrittenText, 'sequence' | 'spanId' | 'name' | 'digest'>;

export function createCopies(written: readonly WrittenText[]) {
  const known = Map.groupBy(written, keyOf);
  return {
    of(text: HashedText): Copies {
      const all = known.get(keyOf(text)) ?? [];
      return {
        same: all.filter(({ digest }) => digest === text.digest),
        others: all.filter(({ digest }) => digest !== text.digest),
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
type Places = Readonly<Record<Column, string | null>>;

/** The copies that replace texts, and what is left to do about texts that stay and about copies that nothing needs. */
export function choosePlaces({ copies, leaving, nowMs, writtenToMs }: Comparing) {
  const missing: HashedText[] = [];
  const staying = new Set<number>();
  const surplus: string[] = [];

  function placeOf(text: HashedText): string | null {
    const { same, others } = copies.of(text);
    const own = same.filter(({ place, writtenAtMs }) => !leaving.has(place) && writtenAtMs <= nowMs);
    const copy = own.find(({ writtenAtMs }) => writtenAtMs <= writtenToMs);
    if (own.length === 0) missing.push(text);
    if (copy === undefined) {
      staying.add(text.sequence);
      return null;
    }
    for (const { place } of [...same, ...others]) if (place !== copy.place) surplus.push(place);
    return copy.place;
  }

  return {
    /** `digests`: of the long texts of a span. */
    of({ sequence, spanId, ...digests }: SpanRow): Places {
      const place = (name: Column) => {
        const digest = digests[name];
        return digest === null ? null : placeOf({ sequence, spanId, name, digest });
      };
      return { input: place('input'), output: place('output'), contexts: place('contexts') };
    },
    missing,
    /** Sequences of traces of which a text stays for now. */
    staying,
    surplus,
  };
}

function keyOf({ sequence, spanId, name }: Omit<TextKey, 'projectNumber'>): string {
  return `${sequence} ${name} ${spanId}`;
}

/** Pages with up to so much text. */
export function cutByBytes<Row extends { readonly bytes: number }>(
  rows: readonly Row[],
  bytesAtOnce: number = BYTES_AT_ONCE,
): readonly (readonly Row[])[] {
  const pages: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.bytes;
    if (left < 0 || pages.length === 0) {
      pages.push([]);
      left = bytesAtOnce - row.bytes;
    }
    pages.at(-1)?.push(row);
  }
  return pages;
}

type Reading = {
  readonly client: pg.ClientBase;
  readonly projectNumber: number;
  /** Shorter texts are left out. */
  readonly minBytes: number;
};

export async function readTexts(reading: Reading, spans: readonly SpanKey[]): Promise<readonly SpanText[]> {
  const { projectNumber } = reading;
  return (await readRows(READ_TEXTS, reading, spans)).flatMap(({ sequence, spanId, ...texts }) =>
    COLUMNS.flatMap((name): SpanText[] => {
      const text = texts[name];
      return text === null ? [] : [{ projectNumber, sequence, spanId, name, text }];
    }),
  );
}

/** As they are now, of some spans. */
export async function readAgain(
  reading: Reading,
  texts: readonly HashedText[],
  spans: readonly SpanKey[],
): Promise<readonly SpanText[]> {
  const asked = new Set(texts.map(keyOf));
  const having = spans.filter((span) => COLUMNS.some((name) => asked.has(keyOf({ ...span, name }))));
  return (await readTexts(reading, having)).filter((text) => asked.has(keyOf(text)));
}

/** In hexadecimal; null: no long text. */
export function readDigests(reading: Reading, spans: readonly SpanKey[]): Promise<readonly SpanRow[]> {
  return readRows(READ_DIGESTS, reading, spans);
}

async function readRows(
  statement: string,
  { client, projectNumber, minBytes }: Reading,
  spans: readonly SpanKey[],
): Promise<readonly SpanRow[]> {
  const keys = [spans.map(({ sequence }) => sequence), spans.map(({ spanId }) => spanId)];
  return (await client.query<SpanRow>(statement, [projectNumber, ...keys, minBytes])).rows;
}
