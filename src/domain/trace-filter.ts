/** Whether a trace is one of those that are looked for. Pure, so that every store finds the same. */

import { isArray, isObject, parseFreeJson } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import type { Evaluation } from './trace.ts';

/** A condition fits where one of its values does. `of` names the key or the evaluator whose values are compared. */
export type Condition = { readonly name: FilterName; readonly of: string; readonly values: readonly string[] };

export type SearchFilter = {
  /** Every one has to fit. */
  readonly conditions: readonly Condition[];
  /** Whether traces are looked for that the conditions together do not fit. */
  readonly isNegated: boolean;
  /** In lower case; empty: any. */
  readonly text: string;
};

/** What of a trace the names of filters are about. */
const SUBJECTS = {
  'metadata.user_id': 'metadata',
  'metadata.thread_id': 'metadata',
  'metadata.customer_id': 'metadata',
  'metadata.labels': 'metadata',
  'metadata.key': 'metadata',
  'metadata.prompt_ids': 'metadata',
  'metadata.value': 'metadata',
  'traces.origin': 'metadata',
  'traces.error': 'trace',
  'traces.name': 'spans',
  'spans.type': 'spans',
  'spans.model': 'spans',
  'evaluations.evaluator_id': 'evaluations',
  'evaluations.evaluator_id.guardrails_only': 'evaluations',
  'evaluations.evaluator_id.has_passed': 'evaluations',
  'evaluations.evaluator_id.has_score': 'evaluations',
  'evaluations.evaluator_id.has_label': 'evaluations',
  'evaluations.passed': 'evaluations',
  'evaluations.state': 'evaluations',
  'evaluations.label': 'evaluations',
  'evaluations.score': 'evaluations',
} as const;

export type FilterName = keyof typeof SUBJECTS;
export const FILTER_NAMES = Object.keys(SUBJECTS) as readonly FilterName[];

/** A trace as far as filters ask for it. */
export type SearchDocument = {
  readonly metadataJson: string;
  readonly hasError: boolean;
  readonly name: string;
  readonly spans: readonly { readonly type: string; readonly model: string | null; readonly name: string | null }[];
  readonly evaluations: readonly EvaluationFacts[];
};

export type EvaluationFacts = Pick<Evaluation, 'evaluatorId' | 'isGuardrail' | 'status' | 'passed' | 'score' | 'label'>;

export const ORIGIN_DEFAULT = 'application';

/** What has to be read of a trace to judge it, beside its own row. */
export function needsOf({ conditions, text }: SearchFilter) {
  const isAbout = (subject: string) => conditions.some(({ name }) => SUBJECTS[name] === subject);
  const texts = text !== '';
  return {
    metadata: isAbout('metadata'),
    spans: texts || isAbout('spans'),
    evaluations: isAbout('evaluations'),
    texts,
  };
}

export type Needs = ReturnType<typeof needsOf>;

/** Whether a text holds another that is in lower case. */
export function createTextMatcher(text: string): (each: string) => boolean {
  return (each) => each.toLowerCase().includes(text);
}

/** Whether any trace at all fits. */
export function fitsAll({ conditions, isNegated, text }: SearchFilter): boolean {
  return conditions.length === 0 && !isNegated && text === '';
}

/**
 * What a filter says of errors where that is true or false whatever else it says: bounds of whether a trace has one,
 * false being less than true. `rest` is what is left to judge of traces within them.
 */
export function sortOutErrors(filter: SearchFilter): { from: boolean; to: boolean; rest: SearchFilter } {
  const { conditions, isNegated, text } = filter;
  const condition = conditions.find(({ name }) => name === 'traces.error');
  // Of several conditions that do not fit together, each may fit alone.
  if (condition === undefined || (isNegated && conditions.length > 1)) return { from: false, to: true, rest: filter };
  const isWanted = (hasError: boolean) => condition.values.includes(String(hasError)) !== isNegated;
  const rest = { conditions: conditions.filter((each) => each !== condition), isNegated: false, text };
  return { from: !isWanted(false), to: isWanted(true), rest };
}

/** Judges the conditions; the text is looked for where it may be. */
export function createMatcher(filter: SearchFilter): (document: SearchDocument) => boolean {
  const judge = createJudgement(filter);
  return (document) => judge(document, filter.conditions.length === 0 ? {} : readMetadata(document.metadataJson));
}

/** The same of a trace whose metadata is read already. */
export function createJudgement({ conditions, isNegated }: SearchFilter): Fits {
  const judges = conditions.map((condition) => JUDGES[condition.name](condition));
  return (document, metadata) => judges.every((fits) => fits(document, metadata)) !== isNegated;
}

/** Our own stored text. */
export function readMetadata(json: string): LosslessObject {
  const metadata = parseFreeJson(json);
  return isObject(metadata) ? metadata : {};
}

export type Fits = (document: SearchDocument, metadata: LosslessObject) => boolean;
type Judge = (condition: Condition) => Fits;

/** Judges the values that a trace has: one of them has to be among those of the condition. */
function oneOf(valuesOf: (document: SearchDocument, metadata: LosslessObject, of: string) => readonly string[]): Judge {
  return ({ of, values }) => {
    const wanted = new Set(values);
    return (document, metadata) => valuesOf(document, metadata, of).some((value) => wanted.has(value));
  };
}

/** Judges the evaluations of the evaluator `of`, or of any evaluator that is named. */
function evaluated(fits: (evaluation: EvaluationFacts) => boolean): Judge {
  return ({ values }) => {
    const wanted = new Set(values);
    return ({ evaluations }) => evaluations.some((each) => wanted.has(each.evaluatorId) && fits(each));
  };
}

function resultOf(read: (evaluation: EvaluationFacts) => string | null): Judge {
  return ({ of, values }) => {
    const wanted = new Set<string | null>(values);
    return ({ evaluations }) => evaluations.some((each) => each.evaluatorId === of && wanted.has(read(each)));
  };
}

const JUDGES: Readonly<Record<FilterName, Judge>> = {
  'metadata.user_id': oneOf((_, metadata) => member(metadata, 'user_id')),
  'metadata.thread_id': oneOf((_, metadata) => member(metadata, 'thread_id')),
  'metadata.customer_id': oneOf((_, metadata) => member(metadata, 'customer_id')),
  'metadata.labels': oneOf((_, metadata) => members(metadata, 'labels')),
  'metadata.key': oneOf((_, metadata) => Object.keys(metadata)),
  'metadata.prompt_ids': oneOf((_, metadata) => members(metadata, 'prompt_ids')),
  'metadata.value': oneOf((_, metadata, of) => member(metadata, of)),
  'traces.origin': oneOf((_, metadata) => {
    const origin = member(metadata, 'origin');
    return origin.length === 0 ? [ORIGIN_DEFAULT] : origin;
  }),
  'traces.error': oneOf(({ hasError }) => [String(hasError)]),
  'traces.name': oneOf(({ name }) => [name]),
  'spans.type': oneOf(({ spans }) => spans.map(({ type }) => type)),
  'spans.model': oneOf(({ spans }) => spans.flatMap(({ model }) => (model === null ? [] : [model]))),
  'evaluations.evaluator_id': evaluated(() => true),
  'evaluations.evaluator_id.guardrails_only': evaluated(({ isGuardrail }) => isGuardrail),
  'evaluations.evaluator_id.has_passed': evaluated(({ passed }) => passed !== null),
  'evaluations.evaluator_id.has_score': evaluated(({ score }) => score !== null),
  'evaluations.evaluator_id.has_label': evaluated(({ label }) => label !== null),
  'evaluations.passed': resultOf(({ passed }) => (passed === null ? null : String(passed))),
  'evaluations.state': resultOf(({ status }) => status),
  'evaluations.label': resultOf(({ label }) => label),
  'evaluations.score': ({ of, values }) => {
    const [min, max] = values.map(Number);
    return ({ evaluations }) =>
      evaluations.some(
        ({ evaluatorId, score }) =>
          evaluatorId === of && score !== null && score >= Number(min) && score <= Number(max),
      );
  },
};

/** The text of a member; none where there is no value. */
function member(metadata: LosslessObject, key: string): readonly string[] {
  const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  return value === undefined ? [] : [bareText(value)];
}

/** The same of each item of a list. */
function members(metadata: LosslessObject, key: string): readonly string[] {
  const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (value === undefined) return [];
  return isArray(value) ? value.map(bareText) : [bareText(value)];
}

/** The JSON text of a value, strings bare. */
export function bareText(value: LosslessJson): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** JSON text that the metadata of every trace holds that fits; null where nothing of the kind is known. */
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
