/** The search parameters of the page of a prompt, and of the traces of a prompt. */

import { oneOf, readerOf, type SearchOf, text } from '../layout/search.ts';
import { writeQueryLine } from '../traces/query-line.ts';
import type { TraceListSearch } from '../traces/search.ts';

const READERS = {
  tab: oneOf('versions', 'evaluate', 'use'),
  /** The numbers of two versions to compare. */
  from: text,
  to: text,
  /** The experiment and the run that the page works on. */
  experiment: text,
  run: text,
};

export const readPromptSearch = readerOf(READERS);

export type PromptSearch = SearchOf<typeof READERS>;

/** Finds the traces whose spans name the prompt, by whichever of its names. */
export function tracesOf(promptId: string): TraceListSearch {
  return { q: writeQueryLine({ text: '', filters: [{ name: 'prompt', value: promptId }] }) };
}
