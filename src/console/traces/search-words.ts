/** Says which traces a search finds, from what is sent, so that the words cannot differ from it. */

import { type SentFilter, writeQueryLine } from './query-line.ts';
import { describeFilter, splitFilters } from './unwritten-filters.ts';

export type SentSearch = {
  readonly query?: string;
  readonly filters?: readonly SentFilter[];
  readonly negateFilters?: boolean;
};

/** A part of the sentence "All traces that …": words, and what follows them as code. */
export type SearchPart = { readonly words: string; readonly code: string };

/** Without a search there are no parts. */
export function wordsOfSearch({ query = '', filters = [], negateFilters = false }: SentSearch): readonly SearchPart[] {
  const parts: SearchPart[] = query === '' ? [] : [{ words: 'contain', code: query }];
  if (filters.length === 0) return parts;
  const { written, unwritten } = splitFilters(filters);
  const line = written.length === 0 ? [] : [writeQueryLine({ text: '', filters: written })];
  const code = [...line, ...unwritten.map(describeFilter)].join(' ');
  // A trace that matches one of several filters but not the others is found, too.
  const negated = filters.length === 1 ? 'do not match' : 'do not match all of';
  return [...parts, { words: negateFilters ? negated : 'match', code }];
}
