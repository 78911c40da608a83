/** Tests a trace against many filters at once: looks up filters that require a metadata value by that value. */

import type { LosslessObject } from '../../../json/lossless-json.ts';
import {
  type Condition,
  compileFilter,
  type DocumentMatcher,
  type FilterName,
  member,
  members,
  readMetadata,
  type SearchDocument,
  type SearchFilter,
} from '../search/trace-filter.ts';

const PREFIX = 'metadata.';
const LISTED = 'labels';
const INDEXED: ReadonlySet<FilterName> = new Set<FilterName>([
  'metadata.user_id',
  'metadata.thread_id',
  'metadata.customer_id',
  'metadata.labels',
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
    // Each once: a trace may have several of the values that one filter takes.
    const indexes = new Set(others);
    for (const [key, values] of byValue) {
      for (const text of valuesOf(metadata, key)) for (const index of values.get(text) ?? []) indexes.add(index);
    }
    return [...indexes].filter((index) => matchers[index]?.(document, metadata));
  };
}

function valuesOf(metadata: LosslessObject, key: string): readonly string[] {
  return key === LISTED ? members(metadata, key) : member(metadata, key);
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
