/** Reads the searchable texts of a trace, span by span; a long text in slices that the database cuts. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createSpanTexts, SEARCHED_JSON, type SearchedJson } from '../../domain/traces/search/search-text.ts';
import { readPages } from '../long-reads.ts';
import { unpackTypedStart } from '../rows/codes.ts';
import type { RowOf } from '../statements/statement.ts';
import type { SearchQueries, SearchRunner } from './search-runner.ts';

/** Returns true to stop; a promise when that takes a while. */
export type VisitText = (text: string) => boolean | Promise<boolean>;

/** In the stored form; null: a text is long, or the span has none. */
export type ShortTexts = { readonly [Name in SearchedJson]?: string | null };

type TextFacts = Omit<RowOf<SearchQueries['listTextsBehind']>, SearchedJson> & ShortTexts;

/** Texts up to this size are read with their spans. */
export const SHORT_TEXT_BYTES = 2_048;
/** A page then has at most 3 MiB of texts. */
const SPANS_AT_ONCE = 500;
/** Nearly always has all texts that are searched. */
const SLICE_CHARACTERS = 65_536;
/** A store may go through a whole text for each of its slices. */
const LATER_SLICE_CHARACTERS = 1_048_576;
/** Before it yields to the event loop. */
const BUSY_MAX_MS = 10;

const HAS = { errorJson: 'hasError', inputJson: 'hasInput', outputJson: 'hasOutput' } as const;
const SLICES = { errorJson: 'findErrorSlice', inputJson: 'findInputSlice', outputJson: 'findOutputSlice' } as const;

export function createTextReader(
  { queries, runQuery, nowMs }: Pick<SearchRunner, 'queries' | 'runQuery' | 'nowMs'>,
  { projectNumber, sequence }: { readonly projectNumber: number; readonly sequence: number },
) {
  async function* slicesOf({ spanId }: TextFacts, of: SearchedJson): AsyncGenerator<string, void> {
    let characters = SLICE_CHARACTERS;
    for (let first = 1; ; ) {
      const [row] = await runQuery(queries[SLICES[of]], { projectNumber, sequence, spanId, first, characters });
      const slice = row?.slice ?? '';
      yield first === 1 ? unpackTypedStart(slice) : slice;
      // A character may be two UTF-16 units.
      if (slice.length < characters) return;
      first += characters;
      characters = Math.min(2 * characters, LATER_SLICE_CHARACTERS);
      await yieldToEventLoop();
    }
  }

  async function visitSpan(span: TextFacts, names: Set<string>, visit: VisitText): Promise<boolean> {
    const texts = createSpanTexts();
    const name = texts.name(span);
    if (!names.has(name) && (await visit(name))) return true;
    names.add(name);
    for (const of of SEARCHED_JSON) {
      if (!span[HAS[of]] || texts.isFull()) continue;
      const reading = texts.read(of);
      const short = span[of] ?? null;
      if (short !== null) reading.add(unpackTypedStart(short));
      else for await (const slice of slicesOf(span, of)) if (!reading.add(slice)) break;
      const text = reading.end();
      if (text !== '' && (await visit(text))) return true;
    }
    return false;
  }

  return {
    /** The spans of a large trace. */
    pages: () =>
      readPages<TextFacts>(SPANS_AT_ONCE, (last) => {
        const page = { projectNumber, sequence, after: last?.spanId ?? '', limit: SPANS_AT_ONCE };
        return runQuery(queries.listTextsBehind, { ...page, bytesMax: SHORT_TEXT_BYTES });
      }),

    /** Passes the texts of spans to `visit`, folded, until it returns true; those read with the spans, and the others. */
    async visitAll(spans: readonly TextFacts[], visit: VisitText): Promise<boolean> {
      const names = new Set<string>();
      let turnAtMs = nowMs() + BUSY_MAX_MS;
      for (const span of spans) {
        if (await visitSpan(span, names, visit)) return true;
        if (nowMs() < turnAtMs) continue;
        await yieldToEventLoop();
        turnAtMs = nowMs() + BUSY_MAX_MS;
      }
      return false;
    },
  };
}
