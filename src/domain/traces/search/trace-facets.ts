/** Lists the values that filters can have, with how many traces have each. */

import type { Reason } from '../../fault.ts';
import { choiceReason } from '../../reasons.ts';
import { foldText } from './fold-text.ts';
import type { SearchCall } from './search-call.ts';
import { type Facet, FILTER_NAMES, VALUE_NAMES, type ValueName } from './trace-filter.ts';
import { checkDates, datesOf, filterOf, type SearchConditions, visibleTo } from './trace-search.ts';
import { KEYED, readFilters } from './trace-search-query.ts';
import { EVER, type FoundValues, type TraceSearch, type ValueCount } from './trace-search-store.ts';

/** Which traces count. */
export type CountedTraces = Omit<SearchConditions, 'traceIds'>;

export type FacetsRequest = CountedTraces & {
  /** Empty: those of FACETS_DEFAULT. */
  readonly names: readonly string[];
  /** Most values of each; null: not sent. */
  readonly limit: number | null;
};

export type ValuesRequest = CountedTraces & {
  readonly name: string;
  /** The key or the evaluator of a filter that has values for each of them; else empty. */
  readonly key: string;
  /** Empty: any. */
  readonly prefix: string;
  /** Null: not sent. */
  readonly limit: number | null;
};

export type ListedFacets = {
  readonly facets: readonly { readonly name: string; readonly values: readonly ValueCount[] }[];
  /** Whether values may be missing, because not all traces were read. */
  readonly isPartial: boolean;
};

export type ListedValues = Pick<ListedFacets, 'isPartial'> & { readonly values: readonly ValueCount[] };

type FacetCall = Pick<SearchCall, 'project' | 'nowMs'>;

export type TraceFacets = {
  /** The most frequent values of several filters. Throws validation_error. */
  list(request: FacetsRequest, call: FacetCall): Promise<ListedFacets>;
  /** The most frequent values of one filter that begin with a prefix. Throws validation_error. */
  suggest(request: ValuesRequest, call: FacetCall): Promise<ListedValues>;
  /** The problems of a request. */
  listProblems(request: FacetsRequest): readonly Reason[];
  suggestProblems(request: ValuesRequest): readonly Reason[];
};

type TraceFacetsDeps = {
  readonly store: Pick<TraceSearch, 'listValues'>;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

const LIMIT_DEFAULT = 10;
/** Filters that have values without a key or an evaluator. */
const UNKEYED = VALUE_NAMES.filter((name) => !KEYED.has(name));
const FACETS_DEFAULT: readonly ValueName[] = [
  ...(['spans.model', 'spans.type', 'traces.name', 'traces.error', 'traces.origin'] as const),
  ...(['metadata.user_id', 'metadata.thread_id', 'metadata.customer_id', 'metadata.labels'] as const),
  ...(['metadata.prompt_ids', 'metadata.key', 'evaluations.evaluator_id'] as const),
];

export function createTraceFacets({ store, traceDefaultDays }: TraceFacetsDeps): TraceFacets {
  type Wanted = { readonly facets: readonly Facet[]; readonly prefix: string; readonly limit: number | null };

  async function find(
    request: CountedTraces,
    { facets, prefix, limit }: Wanted,
    call: FacetCall,
  ): Promise<FoundValues> {
    const dates = datesOf(request, call.nowMs);
    checkDates(dates);
    return await store.listValues({
      ...visibleTo(call, traceDefaultDays),
      started: request.isByUpdate ? EVER : dates,
      updated: request.isByUpdate ? dates : EVER,
      sort: request.isByUpdate ? 'updated_at' : 'started_at',
      filter: filterOf({ ...request, traceIds: [] }).filter,
      facets,
      prefix: foldText(prefix),
      limit: limit ?? LIMIT_DEFAULT,
    });
  }

  return {
    async list(request, call) {
      const names = request.names.length === 0 ? FACETS_DEFAULT : [...new Set(request.names)].filter(isValueName);
      const wanted = { facets: names.map((name) => ({ name, of: '' })), prefix: '', limit: request.limit };
      const { facets, isComplete } = await find(request, wanted, call);
      return {
        facets: names.map((name, index) => ({ name, values: facets[index] ?? [] })),
        isPartial: !isComplete,
      };
    },
    async suggest(request, call) {
      const { name, key, prefix, limit } = request;
      const facets = isValueName(name) ? [{ name, of: key }] : [];
      const found = await find(request, { facets, prefix, limit }, call);
      return { values: found.facets[0] ?? [], isPartial: !found.isComplete };
    },
    listProblems: ({ names, filters }) => [
      ...names.flatMap((name, index) => nameProblems(`names.${index}`, UNKEYED, name)),
      ...readFilters(filters).reasons,
    ],
    suggestProblems: ({ name, key, filters }) => [
      ...nameProblems('name', VALUE_NAMES, name),
      ...(isValueName(name) ? keyProblems(name, key) : []),
      ...readFilters(filters).reasons,
    ],
  };
}

function nameProblems(field: string, choices: readonly ValueName[], name: string): readonly Reason[] {
  if (choices.some((each) => each === name)) return [];
  const reason = choiceReason(field, choices, name);
  if (isValueName(name)) return [{ ...reason, message: `${field}: ${name} needs a key; SuggestTraceValues takes one` }];
  if (!FILTER_NAMES.some((each) => each === name)) return [reason];
  return [{ ...reason, message: `${field}: ${name} compares numbers and has no values to list` }];
}

function isValueName(name: string): name is ValueName {
  return VALUE_NAMES.some((each) => each === name);
}

function keyProblems(name: ValueName, key: string): readonly Reason[] {
  if (KEYED.has(name) === (key !== '')) return [];
  const what = KEYED.has(name) ? `is required for ${name}` : `must be empty for ${name}`;
  return [{ field: 'key', type: 'custom', message: `key ${what}` }];
}
