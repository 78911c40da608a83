/** What the lists of users and of threads have in common: their search parameters and their words. */

import type { ReactNode } from 'react';
import { oneOf, text } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readGroupSearch = rangeReaderOf({
  /** A part of the id. */
  q: text,
  /** By cost unless it says otherwise. */
  sort: oneOf('recent', 'traces', 'failed', 'tokens', 'duration'),
});

export type GroupSearch = ReturnType<typeof readGroupSearch>;

export type GroupProps = {
  /** In the plural, for example Users. */
  readonly title: string;
  /** The singular. */
  readonly noun: string;
  /** The name of the metadata that names the group. */
  readonly field: 'user_id' | 'thread_id';
  readonly search: GroupSearch;
  readonly linkOf: (group: string) => ReactNode;
};

/** Whether an id contains what was typed. */
export function hasId(id: string | undefined, wanted: string): boolean {
  return (id ?? '').toLowerCase().includes(wanted.toLowerCase());
}

export function capitalized(noun: string): string {
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
}

/** The heading of a column of numbers. */
export function asNumber(heading: string) {
  return { number: heading };
}
