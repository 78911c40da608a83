/** Reads what a trace keeps as it was sent. */

import type { SentFields } from '../trace.ts';
import { cutHeadText, EXPECTED_OUTPUT_MAX_BYTES } from '../trace-size.ts';
import type { TraceDraft } from './collector-draft.ts';
import { beginItem, cleanText, type Reading, readFreeJson } from './collector-reading.ts';

type Tally = { readonly notes: string[]; cuts: number };

/** Undefined: not sent, or not usable. */
type Read = { readonly [Name in keyof SentFields]: SentFields[Name] | undefined };

export function readSent(draft: TraceDraft, reading: Reading, tally: Tally): Read {
  return { expectedOutput: readExpectedOutput(draft, reading, tally) };
}

/** A text stays as sent, other JSON becomes compact text. */
function readExpectedOutput({ expectedOutput: sent }: TraceDraft, reading: Reading, tally: Tally): string | undefined {
  if (sent === undefined) return undefined;
  beginItem(reading, { toleratesFields: false });
  const text = typeof sent === 'string' ? cleanText(sent, reading) : readFreeJson(sent, 'expected_output', reading);
  if (text === null) {
    tally.notes.push((reading.problem ?? '').slice(1));
    return undefined;
  }
  tally.cuts += reading.cuts;
  const kept = cutHeadText(text);
  if (kept !== text) tally.notes.push(`expected_output: cut to ${EXPECTED_OUTPUT_MAX_BYTES} bytes`);
  return kept;
}
