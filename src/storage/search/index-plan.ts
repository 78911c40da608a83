/** What a filter asks of the index of traces. */

import { hash } from 'node:crypto';
import { type FacetCondition, requiredFacets } from '../../domain/traces/search/facets.ts';
import {
  type Condition,
  isTraceRange,
  type RangeName,
  type SearchFilter,
  type Wanted,
} from '../../domain/traces/search/trace-filter.ts';
import { remember } from './remember.ts';

/** A filter in terms of the index. */
export type IndexPlan = {
  /** Of each condition a trace has at least one facet. */
  readonly conditions: readonly (readonly number[])[];
  /** Whether the index finds the traces that miss a condition. There are no ranges then. */
  readonly isNegated: boolean;
  readonly ranges: readonly NumberRange[];
  /** Folded; a trace must have each triple of its characters. Empty: any. */
  readonly text: string;
  /** Whether every trace that the index finds fits the filter, without a check. */
  readonly isExact: boolean;
};

/** Whole numbers, both bounds included. A trace without the number is in no range. */
export type NumberRange = { readonly number: RangedNumber; readonly from: number; readonly to: number };
export type RangedNumber = 'totalTimeMs' | 'totalCostNanoUsd' | 'totalTokens' | 'firstTokenMs';

const NUMBERS: Readonly<Record<RangeName, RangedNumber>> = {
  'traces.duration_ms': 'totalTimeMs',
  'traces.total_cost': 'totalCostNanoUsd',
  'traces.total_tokens': 'totalTokens',
  'traces.first_token_ms': 'firstTokenMs',
};
const NANO_PER_USD = 1_000_000_000;

/** Null: the index does not help with this filter. */
export function planFilter(projectNumber: number, { conditions, isNegated, text }: SearchFilter): IndexPlan | null {
  const ranged = conditions.filter(isRanged);
  const facets = conditions.filter(isNamed).map(requiredFacets);
  const areExact = facets.every(({ isExact }) => isExact);
  if (isNegated && (!areExact || ranged.length > 0)) return null;
  return {
    conditions: facets.map(({ anyOf }) => anyOf.map((facet) => facetNumber(projectNumber, facet))),
    isNegated,
    ranges: ranged.map(rangeOf),
    text,
    isExact: areExact && text === '',
  };
}

type RangeCondition = Wanted & { readonly name: RangeName };

function isRanged(condition: Condition): condition is RangeCondition {
  return isTraceRange(condition.name);
}

function isNamed(condition: Condition): condition is FacetCondition {
  return !isTraceRange(condition.name);
}

function rangeOf({ name, values: [least = '', greatest = ''] }: RangeCondition): NumberRange {
  const number = NUMBERS[name];
  const unit = number === 'totalCostNanoUsd' ? NANO_PER_USD : 1;
  return { number, from: firstAtLeast(least, unit), to: -firstAtLeast(negated(greatest), unit) };
}

function negated(bound: string): string {
  return bound.trim() === '' ? '' : String(-Number(bound));
}

/** The least whole number that is a bound or more, once it is divided by the unit as the filter of the domain does. */
function firstAtLeast(bound: string, unit: number): number {
  if (bound.trim() === '') return Number.MIN_SAFE_INTEGER;
  const wanted = Number(bound);
  const near = Math.ceil(wanted * unit);
  if (!Number.isSafeInteger(near)) return near < 0 ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  // The product may be rounded to either side.
  const first = [near - 1, near, near + 1].find((each) => each / unit >= wanted);
  return first ?? near + 1;
}

const DIGITS = 13;
/** Most facets of a trace are those of many others. */
const REMEMBERED_MAX = 20_000;

const numberOf = remember((name: string) => Number.parseInt(hash('md5', name).slice(0, DIGITS), 16), REMEMBERED_MAX);

/** The number of a facet in a project: 52 bits of a hash, so that a collision is less likely than a disk error. */
export function facetNumber(projectNumber: number, facet: string): number {
  return numberOf(`${projectNumber} ${facet}`);
}

/** The number of a value by which analytics group traces: of a user, a customer, a thread or a label. */
export function dimensionNumber(projectNumber: number, value: string): number {
  return facetNumber(projectNumber, `dimension ${value}`);
}

/** No model has this number. */
const NO_MODEL = -1;

/** The number of a model by which analytics group spans; null: they have none. */
export function modelNumber(projectNumber: number, model: string | null): number {
  return model === null ? NO_MODEL : dimensionNumber(projectNumber, model);
}
