/** The conditions of a trigger, as the line of a search and as the api has them. */

import type { Trigger } from '../../../gen/spandrel/v1/triggers_pb.js';
import { parseQueryLine, type SentFilter, sentFilters, writeQueryLine } from '../traces/query-line.ts';
import { describeFilter, splitFilters } from '../traces/unwritten-filters.ts';

export type TriggerConditions = {
  /** The filters and words of a search, as its line has them. */
  readonly line: string;
  /** Filters that no line can write. They stay as they are until somebody removes them. */
  readonly kept: readonly SentFilter[];
};

export function readConditions({ filters, query = '' }: Pick<Trigger, 'filters' | 'query'>): TriggerConditions {
  const sent = filters.map(({ name, key, values }) => ({ name, values, ...(key !== undefined && { key }) }));
  const { written, unwritten } = splitFilters(sent);
  return { line: writeQueryLine({ text: query, filters: written }), kept: unwritten };
}

/** As the api has them. */
export function sentConditions({ line, kept }: TriggerConditions): { query: string; filters: SentFilter[] } {
  const { text, filters } = parseQueryLine(line);
  const groups = Map.groupBy([...kept, ...sentFilters(filters)], ({ name, key }) => JSON.stringify([name, key]));
  const joined = [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, values: [first, ...others].flatMap(({ values }) => values) }],
  );
  return { query: text, filters: joined };
}

export function areSameConditions(one: TriggerConditions, other: TriggerConditions): boolean {
  return one.line === other.line && JSON.stringify(one.kept) === JSON.stringify(other.kept);
}

/** All of them in one line of text. */
export function describeConditions({ line, kept }: TriggerConditions): string {
  return [line, ...kept.map(describeFilter)].filter((part) => part !== '').join(' ');
}
