/** Filters of the api that a query line can write, and those that it cannot. */

import {
  type Filter,
  parseQueryLine,
  type SentFilter,
  sentFilters,
  writeQueryLine,
  writtenFilters,
} from './query-line.ts';

type SplitFilters = {
  /** As the line has them. */
  readonly written: readonly Filter[];
  /** Those that no line has, or that it would change. */
  readonly unwritten: readonly SentFilter[];
};

export function splitFilters(filters: readonly SentFilter[]): SplitFilters {
  const unwritten = filters.filter((filter) => !isWritable(filter));
  return { written: filters.filter(isWritable).flatMap(writtenFilters), unwritten };
}

/** Whether the line is read back as the same filter. */
function isWritable(filter: SentFilter): boolean {
  const line = writeQueryLine({ text: '', filters: writtenFilters(filter) });
  const { text, filters } = parseQueryLine(line);
  const [read, ...others] = sentFilters(filters);
  if (read === undefined || others.length > 0 || text !== '') return false;
  return idOf(read) === idOf(filter);
}

/** Equal for equal filters. */
function idOf({ name, key, values }: SentFilter): string {
  return JSON.stringify([name, key, values]);
}

/** The name in the api and the values, such as `events.event_type: thumbs_up_down`. */
export function describeFilter({ name, key, values }: SentFilter): string {
  const shown = values.map((value) => (value === '' ? '""' : value));
  return `${key === undefined ? name : `${name}.${key}`}: ${shown.join(', ')}`;
}
