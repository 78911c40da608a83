/** Tests a trace against many filters at once: looks up filters that require a metadata value by that value. */

import {
  type Condition,
  compileFilter,
  type DocumentMatcher,
  type FilterName,
  member,
  readMetadata,
  type SearchDocument,
  type SearchFilter,
} from '../search/trace-filter.ts';

const PREFIX = 'metadata.';
const INDEXED: ReadonlySet<FilterName> = new Set<FilterName>([
  'metadata.user_id',
  'metadata.thread_id',
  'metadata.customer_id',
]);

/** Finds the indexes of the filters whose conditions a trace matches; the caller still searches for their texts. */
export function createFilterIndex(filters: readonly SearchFilter[]): (document: SearchDocument) => readonly number[] {
  const matchers: readonly DocumentMatcher[] = filters.map(compileFilter);
  const needsMetadata = filters.some(({ conditions }) => conditions.length > 0);
  const byValue = new Map<string, Map<string, number[]>>();
  const others: number[] = [];
  for (const [index, { conditions, isNegated }] of filters.entries()) {
    const condition = isNegated ? undefined : conditions.find(({ name }) => INDEXED.has(name));
    if (condition === undefined) others.push(index);
    else addTo(byValue, condition, index);
  }
  return (document) => {
    const metadata = needsMetadata ? readMetadata(document.metadataJson) : {};
    const indexes = [...others];
    for (const [key, values] of byValue) {
      for (const text of member(metadata, key)) indexes.push(...(values.get(text) ?? []));
    }
    return indexes.filter((index) => matchers[index]?.(document, metadata));
  };
}

function addTo(byValue: Map<string, Map<string, number[]>>, { name, values }: Condition, index: number): void {
  const key = name.slice(PREFIX.length);
  const indexesByText = byValue.get(key) ?? new Map<string, number[]>();
  byValue.set(key, indexesByText);
  for (const value of new Set(values)) {
    const indexes = indexesByText.get(value);
    if (indexes === undefined) indexesByText.set(value, [index]);
    else indexes.push(index);
  }
}
