/** Decides whether a trace matches a search. Pure, so that every store finds the same. */

import { isArray, isObject, parseFreeJson } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { AnnotationFacts, ScoreValue } from '../../annotations/score.ts';
import type { FeedbackFacts } from '../../feedback/feedback-event.ts';
import { includesText } from '../../includes-text.ts';
import { PROMPT_IDS, readLinkedPrompts } from '../prompt-links.ts';
import type { Evaluation } from '../trace.ts';

/** Matches where one of its values does. `of` names the key or the evaluator whose values are compared. */
export type Condition = Wanted & { readonly name: FilterName };
export type Wanted = { readonly of: string; readonly values: readonly string[] };

export type SearchFilter = {
  /** All must match. */
  readonly conditions: readonly Condition[];
  /** Whether to find the traces that do not match all conditions. */
  readonly isNegated: boolean;
  /** Folded (fold-text.ts); empty: any. */
  readonly text: string;
};

/** Fields of a trace that filters test. */
export type SearchDocument = {
  readonly metadataJson: string;
  readonly hasError: boolean;
  readonly name: string;
  readonly numbers: TraceNumbers;
  readonly spans: readonly { readonly type: string; readonly model: string | null; readonly name: string | null }[];
  readonly evaluations: readonly EvaluationFacts[];
  readonly feedback: readonly FeedbackFacts[];
  readonly annotations: readonly AnnotationFacts[];
};

/** Null: the trace has none. */
export type TraceNumbers = {
  readonly totalTimeMs: number | null;
  readonly totalCostNanoUsd: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly firstTokenMs: number | null;
};

export type EvaluationFacts = Pick<Evaluation, 'evaluatorId' | 'isGuardrail' | 'status' | 'passed' | 'score' | 'label'>;

export const ORIGIN_DEFAULT = 'application';

/** The parts of a trace that a filter needs, beside its own row. */
export function needsOf({ conditions, text }: SearchFilter) {
  const isAbout = (part: string) => conditions.some(({ name }) => name.startsWith(part));
  const texts = text !== '';
  return {
    metadata: isAbout('metadata.') || isAbout('traces.origin') || isAbout('prompt.'),
    spans: texts || isAbout('spans.') || isAbout('traces.name'),
    evaluations: isAbout('evaluations.'),
    feedback: isAbout('events.'),
    annotations: isAbout('annotations.'),
    texts,
  };
}

export type Needs = ReturnType<typeof needsOf>;

/** Finds `text` in texts; all of them are folded. */
export function createTextMatcher(text: string): (each: string) => boolean {
  return (each) => includesText(each, text);
}

/** Whether every trace matches. */
export function matchesAll({ conditions, isNegated, text }: SearchFilter): boolean {
  return conditions.length === 0 && !isNegated && text === '';
}

/**
 * Extracts the bounds of `hasError` (false < true) that a filter implies. `rest` is the filter that traces within the
 * bounds must still match.
 */
export function extractErrorBounds(filter: SearchFilter): { from: boolean; to: boolean; rest: SearchFilter } {
  const { conditions, isNegated, text } = filter;
  const condition = conditions.find(({ name }) => name === 'traces.error');
  // Where not all of several conditions match, any single one may.
  if (condition === undefined || (isNegated && conditions.length > 1)) return { from: false, to: true, rest: filter };
  const isWanted = (hasError: boolean) => condition.values.includes(String(hasError)) !== isNegated;
  const rest = { conditions: conditions.filter((each) => each !== condition), isNegated: false, text };
  return { from: !isWanted(false), to: isWanted(true), rest };
}

/** Tests the conditions; the caller searches for the text. */
export function createMatcher(filter: SearchFilter): (document: SearchDocument) => boolean {
  const matches = compileFilter(filter);
  return (document) => matches(document, filter.conditions.length === 0 ? {} : readMetadata(document.metadataJson));
}

/** The same for a trace with parsed metadata. */
export function compileFilter({ conditions, isNegated }: SearchFilter): DocumentMatcher {
  const matchers = conditions.map(compileCondition);
  return (document, metadata) => matchers.every((fits) => fits(document, metadata)) !== isNegated;
}

/** Trusts stored text. */
export function readMetadata(json: string): LosslessObject {
  const metadata = parseFreeJson(json);
  return isObject(metadata) ? metadata : {};
}

export type DocumentMatcher = (document: SearchDocument, metadata: LosslessObject) => boolean;
type CompileCondition = (wanted: Wanted) => DocumentMatcher;

function compileCondition({ name, ...wanted }: Condition): DocumentMatcher {
  return hasValues(name) ? oneOf(VALUE_READERS[name])(wanted) : RANGE_COMPILERS[name](wanted);
}

/** The values of a trace by which a filter finds it; `of` names the key or the evaluator. */
type ReadValues = (document: SearchDocument, metadata: LosslessObject, of: string) => readonly string[];

/** Matches where a value of the trace is among those of the condition. */
function oneOf(valuesOf: ReadValues): CompileCondition {
  return ({ of, values }) => {
    const wanted = new Set(values);
    return (document, metadata) => valuesOf(document, metadata, of).some((value) => wanted.has(value));
  };
}

/** The evaluators with an evaluation that meets `fits`. */
function evaluators(fits: (evaluation: EvaluationFacts) => boolean): ReadValues {
  return ({ evaluations }) => evaluations.filter(fits).map(({ evaluatorId }) => evaluatorId);
}

function resultsOf(read: (evaluation: EvaluationFacts) => string | null): ReadValues {
  return ({ evaluations }, _, of) =>
    evaluations
      .filter(({ evaluatorId }) => evaluatorId === of)
      .map(read)
      .filter((value) => value !== null);
}

/** Matches where a number of the trace is within the bounds; one that the trace lacks is in none. */
function within(numberOf: (numbers: TraceNumbers) => number | null): CompileCondition {
  return ({ values }) => {
    const isWithin = compileRange(values);
    return ({ numbers }) => isWithin(numberOf(numbers));
  };
}

/** Both bounds are included; an empty one excludes nothing. */
function compileRange([least = '', greatest = '']: readonly string[]): (number: number | null) => boolean {
  const from = least.trim() === '' ? Number.NEGATIVE_INFINITY : Number(least);
  const to = greatest.trim() === '' ? Number.POSITIVE_INFINITY : Number(greatest);
  return (number) => number !== null && number >= from && number <= to;
}

const NANO_PER_USD = 1_000_000_000;

/** Filters whose values traces have. */
const VALUE_READERS = {
  'metadata.user_id': (_, metadata) => member(metadata, 'user_id'),
  'metadata.thread_id': (_, metadata) => member(metadata, 'thread_id'),
  'metadata.customer_id': (_, metadata) => member(metadata, 'customer_id'),
  'metadata.labels': (_, metadata) => members(metadata, 'labels'),
  'metadata.key': (_, metadata) => Object.keys(metadata),
  'metadata.prompt_ids': (_, metadata) => members(metadata, 'prompt_ids'),
  'metadata.value': (_, metadata, of) => member(metadata, of),
  'prompt.id': (_, metadata) => members(metadata, PROMPT_IDS),
  'prompt.version': (_, metadata) => members(metadata, PROMPT_IDS),
  'traces.origin': (_, metadata) => {
    const origin = member(metadata, 'origin');
    return origin.length === 0 ? [ORIGIN_DEFAULT] : origin;
  },
  'traces.error': ({ hasError }) => [String(hasError)],
  'traces.name': ({ name }) => [name],
  'spans.type': ({ spans }) => spans.map(({ type }) => type),
  'spans.model': ({ spans }) => spans.flatMap(({ model }) => (model === null ? [] : [model])),
  'evaluations.evaluator_id': evaluators(() => true),
  'evaluations.evaluator_id.guardrails_only': evaluators(({ isGuardrail }) => isGuardrail),
  'evaluations.evaluator_id.has_passed': evaluators(({ passed }) => passed !== null),
  'evaluations.evaluator_id.has_score': evaluators(({ score }) => score !== null),
  'evaluations.evaluator_id.has_label': evaluators(({ label }) => label !== null),
  'evaluations.passed': resultsOf(({ passed }) => (passed === null ? null : String(passed))),
  'evaluations.state': resultsOf(({ status }) => status),
  'evaluations.label': resultsOf(({ label }) => label),
  'annotations.hasAnnotation': ({ annotations }) => [String(annotations.length > 0)],
  'events.event_type': ({ feedback }) => feedback.map(({ type }) => type),
} as const satisfies Readonly<Record<string, ReadValues>>;

/** Filters whose two values are bounds of a number. */
const RANGE_COMPILERS = {
  'traces.duration_ms': within(({ totalTimeMs }) => totalTimeMs),
  // As an answer shows the cost.
  'traces.total_cost': within(({ totalCostNanoUsd }) =>
    totalCostNanoUsd === null ? null : totalCostNanoUsd / NANO_PER_USD,
  ),
  'traces.total_tokens': within(({ promptTokens, completionTokens }) =>
    promptTokens === null && completionTokens === null ? null : (promptTokens ?? 0) + (completionTokens ?? 0),
  ),
  'traces.first_token_ms': within(({ firstTokenMs }) => firstTokenMs),
  'evaluations.score': ({ of, values }) => {
    const isWithin = compileRange(values);
    return ({ evaluations }) => evaluations.some(({ evaluatorId, score }) => evaluatorId === of && isWithin(score));
  },
  'events.metrics': ({ of, values }) => {
    const isWithin = compileRange(values);
    return ({ feedback }) => feedback.some(({ metricsJson }) => isWithin(metricOf(metricsJson, of)));
  },
  'annotations.score': ({ of, values }) => {
    const fits = compileScore(values);
    return ({ annotations }) =>
      annotations.some(({ scores }) => scores.some(({ id, name, value }) => (id === of || name === of) && fits(value)));
  },
} as const satisfies Readonly<Record<string, CompileCondition>>;

export type ValueName = keyof typeof VALUE_READERS;
export type FilterName = ValueName | keyof typeof RANGE_COMPILERS;
export const VALUE_NAMES = Object.keys(VALUE_READERS) as readonly ValueName[];
export const FILTER_NAMES = [...VALUE_NAMES, ...Object.keys(RANGE_COMPILERS)] as readonly FilterName[];

export function hasValues(name: FilterName): name is ValueName {
  return Object.hasOwn(VALUE_READERS, name);
}

/** Two values are also the bounds of a number, of which either may be empty. */
function compileScore(values: readonly string[]): (value: ScoreValue) => boolean {
  const wanted = new Set(values);
  const isRange = values.length === 2 && values.every((value) => Number.isFinite(Number(value)));
  const isWithin = isRange ? compileRange(values) : () => false;
  return (value) => wanted.has(String(value)) || (typeof value === 'number' && isWithin(value));
}

/** A metric of an event; null: it has none. Trusts stored text. */
function metricOf(json: string, name: string): number | null {
  const metrics: { readonly [name: string]: number } = JSON.parse(json);
  return Object.hasOwn(metrics, name) ? (metrics[name] ?? null) : null;
}

/** A filter with values; `of` names the key or the evaluator. */
export type Facet = { readonly name: ValueName; readonly of: string };

/** The values of a trace with parsed metadata, each once. */
export function valuesOf({ name, of }: Facet, document: SearchDocument, metadata: LosslessObject): ReadonlySet<string> {
  return new Set(VALUE_READERS[name](document, metadata, of));
}

/**
 * Those of the values that are worth listing; null: all. A prompt is found by each of its names, and listed by one.
 */
export function listedOf({ name }: Facet, metadata: LosslessObject): readonly string[] | null {
  if (name === 'prompt.id') return readLinkedPrompts(metadata).prompts;
  return name === 'prompt.version' ? readLinkedPrompts(metadata).versions : null;
}

export type RangeName = `traces.${'duration_ms' | 'total_cost' | 'total_tokens' | 'first_token_ms'}`;
/** Whether the two values are bounds of a number of the trace. */
export function isTraceRange(name: FilterName): name is RangeName {
  return isOrdered(name) && name.startsWith('traces.');
}

/** Whether the order of its values counts: a least and a greatest one. */
export function isOrdered(name: FilterName): boolean {
  return Object.hasOwn(RANGE_COMPILERS, name);
}

/** The text of a member; empty where it is absent. */
export function member(metadata: LosslessObject, key: string): readonly string[] {
  const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  return value === undefined ? [] : [bareText(value)];
}

/** The same, for each list item. */
export function members(metadata: LosslessObject, key: string): readonly string[] {
  const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (value === undefined) return [];
  return isArray(value) ? value.map(bareText) : [bareText(value)];
}

/** JSON text of a value, strings unquoted. */
export function bareText(value: LosslessJson): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** JSON text that the metadata of every matching trace contains; null where none is known. */
export function needleOf({ name, values }: Condition): string | null {
  const [value] = values;
  if (value === undefined || values.length > 1) return null;
  switch (name) {
    case 'metadata.user_id':
    case 'metadata.thread_id':
    case 'metadata.customer_id':
      return `"${name.slice('metadata.'.length)}":${JSON.stringify(value)}`;
    case 'metadata.labels':
    case 'metadata.key':
      return JSON.stringify(value);
    default:
      return null;
  }
}
