/** The tokens of the index of traces, and the expressions of FTS5 that look for them. */

import { bucketOf, NONE } from '../../../domain/number-buckets.ts';
import type { IndexPlan, NumberRange, RangedNumber } from '../../search/index-plan.ts';
import { remember } from '../../search/remember.ts';
import type { IndexedTrace } from '../../search/trace-index.ts';

/** The letter that begins the tokens of a number. */
const LETTERS = { totalCostNanoUsd: 'c', totalTimeMs: 'd', firstTokenMs: 'k', totalTokens: 't' } as const;
const NUMBERS = Object.keys(LETTERS) as readonly RangedNumber[];

const BASE = 36;
export type InBucket = { readonly number: RangedNumber; readonly bucket: number };

export function bucketsOf(trace: Readonly<Record<RangedNumber, number | null>>): readonly InBucket[] {
  return NUMBERS.map((number) => ({ number, bucket: bucketOf(trace[number]) }));
}

export function tokensOf(trace: Omit<IndexedTrace<unknown>, 'text'>): string {
  const { projectNumber, facets } = trace;
  const buckets = bucketsOf(trace).map((each) => bucketToken(projectNumber, each));
  return [projectToken(projectNumber), ...buckets, ...facets.map(facetToken)].join(' ');
}

const REMEMBERED_MAX = 20_000;
const facetToken = remember((facet: number) => `f${facet.toString(BASE)}`, REMEMBERED_MAX);

/** Every trace of the project has it. */
export function projectToken(projectNumber: number): string {
  return `p${projectNumber}`;
}

function bucketToken(projectNumber: number, { number, bucket }: InBucket): string {
  return `${LETTERS[number]}${projectNumber}${bucket === NONE ? 'none' : `b${bucket}`}`;
}

export function anyBucket(
  projectNumber: number,
  number: RangedNumber,
  buckets: readonly Pick<InBucket, 'bucket'>[],
): string {
  return anyOf(buckets.map(({ bucket }) => bucketToken(projectNumber, { number, bucket })));
}

function anyOf(tokens: readonly string[]): string {
  return `(${tokens.join(' OR ')})`;
}

/** Leaves out what every trace of the project has, beside anything else: FTS5 would look for it in all of them. */
export function narrowest(projectNumber: number, facets: readonly string[]): readonly string[] {
  const all = projectToken(projectNumber);
  const others = facets.filter((each) => each !== all);
  return others.length === 0 ? facets : others;
}

/** Null: no trace fits. */
export function matchFacets(projectNumber: number, { conditions, isNegated }: IndexPlan): string | null {
  const all = projectToken(projectNumber);
  if (conditions.some((facets) => facets.length === 0)) return isNegated ? all : null;
  const each = conditions.map((facets) => anyOf(facets.map(facetToken))).join(' AND ');
  if (isNegated) return each === '' ? null : `${all} NOT (${each})`;
  return each === '' ? all : each;
}

/** Whether a bucket may have a number of a range. */
export function mayHave(bucket: number, { from, to }: NumberRange): boolean {
  return bucket >= bucketOf(from) && bucket <= bucketOf(to);
}

/** Characters that a text need not have as they are: databases store the last one in the place of halves of others. */
const UNKNOWN = /[\0\ud800-\udfff\ufffd]/u;
const SELECTIVE_CHARACTERS = 64;
/** Looking for another one takes longer than it saves. */
const TRIPLES_MAX = 12;
/** The text of traces that have too many triples; every text is looked for among them. */
export const TOO_MUCH = '\u{10ffff}'.repeat(3);

/** Null: any text may have it. */
export function matchText(text: string): string | null {
  const characters = [...text].slice(0, SELECTIVE_CHARACTERS);
  const all = characters.map((_, at) => characters.slice(at, at + 3).join('')).slice(0, -2);
  const known = [...new Set(all.filter((triple) => !UNKNOWN.test(triple)))];
  if (known.length === 0) return null;
  const every = Math.ceil(known.length / TRIPLES_MAX);
  return `(${known
    .filter((_, at) => at % every === 0)
    .map(quote)
    .join(' AND ')}) OR ${quote(TOO_MUCH)}`;
}

function quote(triple: string): string {
  return `"${triple.replaceAll('"', '""')}"`;
}
