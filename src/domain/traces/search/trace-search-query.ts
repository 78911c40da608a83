/** Reads and validates the filters of a search. */

import { REASONS_MAX, type Reason } from '../../fault.ts';
import { suggestName } from '../../nearest-match.ts';
import { hasMoreCharactersThan } from '../../text-limits.ts';
import { type Condition, FILTER_NAMES, type FilterName, isTraceRange } from './trace-filter.ts';

export const TRACE_SORTS = ['started_at', 'updated_at', 'total_cost', 'total_time_ms', 'first_token_ms'] as const;
export type TraceSort = (typeof TRACE_SORTS)[number];

type ReadFilters = { readonly conditions: readonly Condition[]; readonly reasons: readonly Reason[] };

const FIELD = 'filters';
const FILTERS_MAX = 1000;
/** Of all filters together. */
const VALUES_MAX = 1000;
/** As long as the name of a span, the longest of values. A longer one is refused in a filter, and never listed. */
export const VALUE_CHARACTERS_MAX = 1024;

/** Filters whose values are given for each key or evaluator. */
export const KEYED: ReadonlySet<FilterName> = new Set([
  'metadata.value',
  'evaluations.passed',
  'evaluations.state',
  'evaluations.label',
  'evaluations.score',
  'events.metrics',
  'annotations.score',
]);
const NAMES: ReadonlySet<string> = new Set(FILTER_NAMES);

/** One filter of a request. */
export type SentFilter = {
  readonly name: string;
  /** The key or the evaluator, for those of KEYED; null: not sent. */
  readonly key: string | null;
  readonly values: readonly string[];
};

export function readFilters(filters: readonly SentFilter[]): ReadFilters {
  const reading: Reading = { conditions: [], reasons: [], values: 0 };
  if (filters.length > FILTERS_MAX) {
    reading.reasons.push(problem(FIELD, `must not hold more than ${FILTERS_MAX} filters`));
    return { conditions: [], reasons: reading.reasons };
  }
  for (const filter of filters) {
    if (reading.reasons.length >= REASONS_MAX) break;
    readFilter(reading, filter);
  }
  if (reading.values > VALUES_MAX) reading.reasons.push(problem(FIELD, `must not hold more than ${VALUES_MAX} values`));
  return { conditions: reading.conditions, reasons: reading.reasons };
}

/** Characters of names, keys and values together. */
export function filterCharacters(filters: readonly SentFilter[]): number {
  const lengthOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);
  return filters.reduce((sum, { name, key, values }) => sum + lengthOf([name, key ?? '', ...values]), 0);
}

type Reading = { readonly conditions: Condition[]; readonly reasons: Reason[]; values: number };

/** Filters whose key may also be the end of their name, after a point. */
const KEY_IN_NAME: readonly FilterName[] = ['events.metrics', 'annotations.score'];

function readFilter(reading: Reading, sent: SentFilter): void {
  const field = `${FIELD}.${sent.name}`;
  const { name, key, values } = withKey(sent);
  if (!isFilterName(name)) reading.reasons.push(problem(field, unknownFilter(name)));
  else if (KEYED.has(name) && key === null)
    reading.reasons.push(problem(field, 'must be an object: its values are by key'));
  else if (!KEYED.has(name) && key !== null)
    reading.reasons.push(problem(field, 'must be a list of strings, such as ["one"]'));
  else
    readValues(reading, {
      name,
      of: key ?? '',
      field: key === sent.key && key !== null ? `${field}.${key}` : field,
      values,
    });
}

function withKey(sent: SentFilter): SentFilter {
  const name = KEY_IN_NAME.find((each) => sent.name.startsWith(`${each}.`));
  if (name === undefined || sent.key !== null) return sent;
  return { ...sent, name, key: sent.name.slice(name.length + 1) };
}

function unknownFilter(name: string): string {
  return `is not a filter${suggestName(name, FILTER_NAMES)}; docs/search.md lists them all`;
}

function isFilterName(name: string): name is FilterName {
  return NAMES.has(name);
}

type Sent = Condition & { readonly field: string };

function readValues(reading: Reading, { name, of, field, values }: Sent): void {
  const { conditions, reasons } = reading;
  reading.values += values.length;
  for (const [index, value] of values.entries()) {
    if (reasons.length >= REASONS_MAX || !hasMoreCharactersThan(value, VALUE_CHARACTERS_MAX)) continue;
    reasons.push(problem(`${field}.${index}`, `must be a string of at most ${VALUE_CHARACTERS_MAX} characters`));
  }
  const closed = CLOSED.get(name);
  if (closed !== undefined && values.some((each) => !closed.includes(each))) {
    reasons.push(problem(field, `must hold nothing but ${closed.join(', ')}`));
  }
  if (values.length === 0) return;
  checkRange(reasons, { name, field, values });
  conditions.push({ name, of, values });
}

const CLOSED: ReadonlyMap<FilterName, readonly string[]> = new Map([
  ['traces.error', ['true', 'false']],
  ['annotations.hasAnnotation', ['true', 'false']],
  ['evaluations.passed', ['true', 'false']],
]);

type SentRange = Pick<Sent, 'name' | 'field' | 'values'>;

function checkRange(reasons: Reason[], { name, field, values }: SentRange): void {
  const isOpen = isTraceRange(name) || name === 'events.metrics';
  if (!isOpen && name !== 'evaluations.score') return;
  const isBound = (value: string) => (value.trim() === '' ? isOpen : Number.isFinite(Number(value)));
  if (values.length === 2 && values.every(isBound)) return;
  const either = isOpen ? ', of which either may be empty' : '';
  reasons.push(problem(field, `must be a least and a greatest number, as strings${either}`));
}

function problem(field: string, what: string): Reason {
  return { field, type: 'custom', message: `${field} ${what}` };
}
