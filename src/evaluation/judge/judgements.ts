/** The answer schema of each judge, and how an answer becomes a result. */

import type { ProcessedOutcome } from '../../domain/evaluations/outcome.ts';
import { numberOf } from '../../json/free-json.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../json/lossless-json.ts';

type Result = Pick<ProcessedOutcome, 'score' | 'passed' | 'label'>;

export type Judgement = {
  /** The name of the schema. */
  readonly name: string;
  /** Lines that describe the choices; empty without choices. */
  readonly items: readonly string[];
  readonly schema: LosslessObject;
  /** The result and the reasoning; null when the answer does not satisfy the schema. */
  readonly read: (answer: unknown) => (Result & { readonly reasoning: string }) | null;
};

type Property = { readonly schema: LosslessObject; readonly isValid: (value: unknown) => boolean };

/** Throws for a type without a judge. */
export function judgementOf(evaluatorType: string, settings: LosslessObject): Judgement {
  const make = Object.hasOwn(JUDGEMENTS, evaluatorType) ? JUDGEMENTS[evaluatorType] : undefined;
  if (make === undefined) throw new Error(`${evaluatorType} is not judged by a language model.`);
  return make(settings);
}

const JUDGEMENTS: { readonly [evaluatorType: string]: (settings: LosslessObject) => Judgement } = {
  'langevals/llm_boolean': () => judgePassed('boolean_judgement'),
  'langevals/llm_answer_match': () => judgePassed('answer_match_judgement'),
  'langevals/llm_score': () =>
    judgement('score_judgement', { score: number({ type: 'number' }) }, ({ score }) => ({
      ...NOTHING,
      score: Number(score),
    })),
  'langevals/llm_category'(settings) {
    const categories = itemsOf(settings, 'categories');
    const label = word(categories.map((each) => textOf(each, 'name')));
    const items = categories.map((each) => `- ${textOf(each, 'name')}: ${textOf(each, 'description')}`);
    return {
      ...judgement('category_judgement', { label }, (answer) => ({ ...NOTHING, label: String(answer.label) })),
      items,
    };
  },
  'langevals/off_topic'(settings) {
    const topics = itemsOf(settings, 'allowed_topics');
    const label = word([...new Set([...topics.map((each) => textOf(each, 'topic')), OTHER_TOPIC])]);
    const confidence = number({ type: 'number', minimum: 0, maximum: 1 });
    const items = topics.map((each) => `- ${textOf(each, 'topic')}: ${textOf(each, 'description')}`);
    const read = (answer: Answer) => ({
      label: String(answer.label),
      passed: answer.label !== OTHER_TOPIC,
      score: Number(answer.confidence),
    });
    return { ...judgement('topic_judgement', { label, confidence }, read), items };
  },
  'ragas/rubrics_based_scoring'(settings) {
    const rubrics = itemsOf(settings, 'rubrics');
    const score = number({ type: 'integer', minimum: 1, maximum: rubrics.length });
    const items = rubrics.map((each, index) => `- ${index + 1}: ${textOf(each, 'description')}`);
    const read = (answer: Answer) => ({ ...NOTHING, score: Number(answer.score) });
    return { ...judgement('rubric_judgement', { score }, read), items };
  },
};

const OTHER_TOPIC = 'other';
const NOTHING: Result = { score: null, passed: null, label: null };

function judgePassed(name: string): Judgement {
  const passed: Property = { schema: { type: 'boolean' }, isValid: (value) => typeof value === 'boolean' };
  return judgement(name, { passed }, (answer) => ({ ...NOTHING, passed: answer.passed === true }));
}

type Answer = Readonly<Record<string, unknown>>;
type Properties = { readonly [name: string]: Property };

const REASONING: Property = { schema: { type: 'string' }, isValid: (value) => typeof value === 'string' };

function judgement(name: string, own: Properties, toResult: (answer: Answer) => Result): Judgement {
  const properties: Properties = { reasoning: REASONING, ...own };
  const names = Object.keys(properties);
  return {
    name,
    items: [],
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(properties).map(([key, { schema }]) => [key, schema])),
      required: names,
      additionalProperties: false,
    },
    read(answer) {
      if (!isAnswer(answer) || Object.keys(answer).length !== names.length) return null;
      const isWhole = Object.entries(properties).every(
        ([key, { isValid }]) => Object.hasOwn(answer, key) && isValid(answer[key]),
      );
      return isWhole ? { ...toResult(answer), reasoning: String(answer.reasoning) } : null;
    },
  };
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type NumberSchema = { readonly type: 'number' | 'integer'; readonly minimum?: number; readonly maximum?: number };

function number(schema: NumberSchema): Property {
  const { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  return {
    schema: { ...schema },
    isValid: (value) =>
      typeof value === 'number' &&
      Number.isFinite(value) &&
      value >= minimum &&
      value <= maximum &&
      (type === 'number' || Number.isInteger(value)),
  };
}

function word(choices: readonly string[]): Property {
  const known = [...new Set(choices)];
  return {
    schema: { type: 'string', enum: known },
    isValid: (value) => typeof value === 'string' && known.includes(value),
  };
}

/** The settings are validated, so no item has another shape. */
function itemsOf(settings: LosslessObject, key: string): readonly LosslessObject[] {
  const items = readMember(settings, key);
  return isArray(items) ? items.filter(isObject) : [];
}

function textOf(item: LosslessObject, key: string): string {
  const value: LosslessJson = readMember(item, key);
  return typeof value === 'string' ? value : String(numberOf(value) ?? '');
}
