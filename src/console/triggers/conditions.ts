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

type Named = { readonly [name: string]: readonly string[] | { readonly [key: string]: readonly string[] } };

export function readConditions({
  filtersJson = '{}',
  query = '',
}: Pick<Trigger, 'filtersJson' | 'query'>): TriggerConditions {
  const sent = Object.entries(JSON.parse(filtersJson) as Named).flatMap(([name, held]): readonly SentFilter[] =>
    isList(held)
      ? [{ name, values: [...held] }]
      : Object.entries(held).map(([key, values]) => ({ name, key, values: [...values] })),
  );
  const { written, unwritten } = splitFilters(sent);
  return { line: writeQueryLine({ text: query, filters: written }), kept: unwritten };
}

function isList(held: Named[string]): held is readonly string[] {
  return Array.isArray(held);
}

/** As a search sends them. */
export function sentConditions({ line, kept }: TriggerConditions): { query: string; filters: SentFilter[] } {
  const { text, filters } = parseQueryLine(line);
  const groups = Map.groupBy([...kept, ...sentFilters(filters)], ({ name, key }) => JSON.stringify([name, key]));
  const joined = [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, values: [first, ...others].flatMap(({ values }) => values) }],
  );
  return { query: text, filters: joined };
}

/** As a trigger stores them. */
export function writeConditions(conditions: TriggerConditions): { filtersJson: string; query: string } {
  const { query, filters } = sentConditions(conditions);
  const names = Map.groupBy(filters, ({ name }) => name);
  const entries = [...names].map(([name, group]) => {
    const [first] = group;
    const byKey = group.map(({ key, values }) => [key, values] as const);
    return [name, first?.key === undefined ? first?.values : Object.fromEntries(byKey)] as const;
  });
  return { filtersJson: JSON.stringify(Object.fromEntries(entries)), query };
}

export function areSameConditions(one: TriggerConditions, other: TriggerConditions): boolean {
  return one.line === other.line && JSON.stringify(one.kept) === JSON.stringify(other.kept);
}

/** All of them in one line of text. */
export function describeConditions({ line, kept }: TriggerConditions): string {
  return [line, ...kept.map(describeFilter)].filter((part) => part !== '').join(' ');
}
