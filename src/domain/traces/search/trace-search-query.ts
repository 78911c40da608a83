/** Reads and validates the filters of a search. */

import { readAtOnce } from '../../../json/json-texts.ts';
import { isObject, jsonTypeOf, type LosslessJson, type LosslessObject } from '../../../json/lossless-json.ts';
import { REASONS_MAX, type Reason } from '../../fault.ts';
import { suggestName } from '../../nearest-match.ts';
import { typeReason } from '../../reasons.ts';
import { type Condition, FILTER_NAMES, type FilterName, isTraceRange } from './trace-filter.ts';

export const TRACE_SORTS = ['started_at', 'updated_at', 'total_cost', 'total_time_ms', 'first_token_ms'] as const;
export type TraceSort = (typeof TRACE_SORTS)[number];

type ReadFilters = { readonly conditions: readonly Condition[]; readonly reasons: readonly Reason[] };

const FIELD = 'filters';
const MEMBERS_MAX = 1000;
/** Of all filters together. */
const VALUES_MAX = 1000;
/** A longer value is refused in a filter, and never listed. */
export const VALUE_CHARACTERS_MAX = 1000;

/** Filters whose values are given for each key or evaluator. */
export const KEYED: ReadonlySet<FilterName> = new Set([
  'metadata.value',
  'evaluations.passed',
  'evaluations.state',
  'evaluations.label',
  'evaluations.score',
]);
const NAMES: ReadonlySet<string> = new Set(FILTER_NAMES);

export function readFilters(json: string | null): ReadFilters {
  const sent = json === null ? null : parseFilters(json);
  if (sent === null) return { conditions: [], reasons: [] };
  if (sent === undefined) return refusal('is not valid JSON, or exceeds its limits');
  if (!isObject(sent)) return refusal('must be an object');
  const reading: Reading = { conditions: [], reasons: [], values: 0 };
  for (const [name, value] of Object.entries(sent)) {
    if (reading.reasons.length >= REASONS_MAX) break;
    readFilter(reading, name, value);
  }
  if (reading.values > VALUES_MAX) reading.reasons.push(problem(FIELD, `must not hold more than ${VALUES_MAX} values`));
  return { conditions: reading.conditions, reasons: reading.reasons };
}

function refusal(what: string): ReadFilters {
  return { conditions: [], reasons: [problem(FIELD, what)] };
}

/** Scans bytes first, as for bodies: JSON too deep, too wide or with too many numbers is never built. */
function parseFilters(json: string): LosslessJson | undefined {
  const { facts, value } = readAtOnce(Buffer.from(json));
  return facts.hasWide ? undefined : value();
}

type Reading = { readonly conditions: Condition[]; readonly reasons: Reason[]; values: number };

function readFilter(reading: Reading, name: string, value: LosslessJson): void {
  const field = `${FIELD}.${name}`;
  if (!isFilterName(name)) reading.reasons.push(problem(field, unknownFilter(name)));
  else if (value === null) return;
  else if (!KEYED.has(name)) readValues(reading, { name, of: '', field, value });
  else if (!isObject(value)) reading.reasons.push(problem(field, 'must be an object'));
  else readKeyed(reading, name, value);
}

function unknownFilter(name: string): string {
  return `is not a filter${suggestName(name, FILTER_NAMES)}; docs/search.md lists them all`;
}

function isFilterName(name: string): name is FilterName {
  return NAMES.has(name);
}

function readKeyed(reading: Reading, name: FilterName, value: LosslessObject): void {
  const entries = Object.entries(value);
  if (entries.length > MEMBERS_MAX) {
    reading.reasons.push(problem(`${FIELD}.${name}`, `must not have more than ${MEMBERS_MAX} members`));
    return;
  }
  for (const [of, values] of entries) {
    readValues(reading, { name, of, field: `${FIELD}.${name}.${of}`, value: values });
  }
}

type Sent = Omit<Condition, 'values'> & { readonly field: string; readonly value: LosslessJson };

function readValues(reading: Reading, { name, of, field, value }: Sent): void {
  const { conditions, reasons } = reading;
  if (value === null) return;
  if (!Array.isArray(value)) {
    const message = `${field} must be a list of strings, such as ["one"]`;
    reasons.push({ ...typeReason(field, 'array', jsonTypeOf(value)), message });
    return;
  }
  const values: string[] = [];
  for (const [index, item] of value.entries()) {
    if (typeof item === 'string' && item.length <= VALUE_CHARACTERS_MAX) values.push(item);
    else if (reasons.length < REASONS_MAX) {
      reasons.push(problem(`${field}.${index}`, `must be a string of at most ${VALUE_CHARACTERS_MAX} characters`));
    }
  }
  reading.values += values.length;
  const closed = CLOSED.get(name);
  if (closed !== undefined && values.some((each) => !closed.includes(each))) {
    reasons.push(problem(field, `must hold nothing but ${closed.join(', ')}`));
  }
  if (values.length > 0) checkRange(reasons, { name, field, values });
  if (values.length > 0) conditions.push({ name, of, values });
}

const CLOSED: ReadonlyMap<FilterName, readonly string[]> = new Map([
  ['traces.error', ['true', 'false']],
  ['evaluations.passed', ['true', 'false']],
]);

type SentRange = Pick<Sent, 'name' | 'field'> & { readonly values: readonly string[] };

function checkRange(reasons: Reason[], { name, field, values }: SentRange): void {
  const isOpen = isTraceRange(name);
  if (!isOpen && name !== 'evaluations.score') return;
  const isBound = (value: string) => (value.trim() === '' ? isOpen : Number.isFinite(Number(value)));
  if (values.length === 2 && values.every(isBound)) return;
  const either = isOpen ? ', of which either may be empty' : '';
  reasons.push(problem(field, `must be a least and a greatest number, as strings${either}`));
}

function problem(field: string, what: string): Reason {
  return { field, type: 'custom', message: `${field} ${what}` };
}
