/** Tests a trace against many filters at once: looks up filters that require a value by that value. */

import {
  type Condition,
  compileFilter,
  type DocumentMatcher,
  type Facet,
  hasValues,
  readMetadata,
  type SearchDocument,
  type SearchFilter,
  type ValueName,
  valuesOf,
} from '../search/trace-filter.ts';

/** A filter is looked up by the condition that fewest traces meet: first those with many values, last those with two. */
const RANKS: { readonly [Name in ValueName]: number } = {
  'metadata.user_id': 0,
  'metadata.thread_id': 0,
  'metadata.customer_id': 0,
  'metadata.labels': 0,
  'metadata.value': 1,
  'metadata.prompt_ids': 1,
  'prompt.id': 1,
  'prompt.version': 1,
  'traces.name': 1,
  'events.event_type': 2,
  'evaluations.evaluator_id': 2,
  'evaluations.evaluator_id.guardrails_only': 2,
  'evaluations.evaluator_id.has_passed': 2,
  'evaluations.evaluator_id.has_score': 2,
  'evaluations.evaluator_id.has_label': 2,
  'evaluations.label': 2,
  'evaluations.passed': 3,
  'evaluations.state': 3,
  'spans.model': 3,
  'metadata.key': 4,
  'spans.type': 4,
  'traces.origin': 4,
  'traces.error': 5,
  'annotations.hasAnnotation': 5,
};

type LookUp = { readonly facet: Facet; readonly byValue: Map<string, number[]> };
type Indexed = { readonly condition: Condition; readonly name: ValueName };

/** Finds the indexes of the filters whose conditions a trace matches; the caller still searches for their texts. */
export function createFilterIndex(filters: readonly SearchFilter[]): (document: SearchDocument) => readonly number[] {
  const matchers: readonly DocumentMatcher[] = filters.map(compileFilter);
  const needsMetadata = filters.some(({ conditions }) => conditions.length > 0);
  const lookUps = new Map<string, LookUp>();
  const others: number[] = [];
  for (const [index, filter] of filters.entries()) {
    const indexed = findIndexed(filter);
    if (indexed === null) others.push(index);
    else addTo(lookUps, indexed, index);
  }
  return (document) => {
    const metadata = needsMetadata ? readMetadata(document.metadataJson) : {};
    // Each once: a trace may have several of the values that one filter takes.
    const indexes = new Set(others);
    for (const { facet, byValue } of lookUps.values()) {
      for (const value of valuesOf(facet, document, metadata)) {
        for (const index of byValue.get(value) ?? []) indexes.add(index);
      }
    }
    return [...indexes].filter((index) => matchers[index]?.(document, metadata));
  };
}

function findIndexed({ conditions, isNegated }: SearchFilter): Indexed | null {
  if (isNegated) return null;
  const indexed = conditions.flatMap((condition): readonly Indexed[] =>
    hasValues(condition.name) ? [{ condition, name: condition.name }] : [],
  );
  return indexed.toSorted((one, other) => RANKS[one.name] - RANKS[other.name])[0] ?? null;
}

function addTo(lookUps: Map<string, LookUp>, { condition: { of, values }, name }: Indexed, index: number): void {
  const key = JSON.stringify([name, of]);
  const { facet, byValue } = lookUps.get(key) ?? { facet: { name, of }, byValue: new Map<string, number[]>() };
  lookUps.set(key, { facet, byValue });
  for (const value of new Set(values)) {
    const indexes = byValue.get(value);
    if (indexes === undefined) byValue.set(value, [index]);
    else indexes.push(index);
  }
}
