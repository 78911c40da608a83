/** Validates what is sent of annotations. */

import { isObject, numberOf } from '../../json/free-json.ts';
import { jsonTypeOf, type LosslessJson } from '../../json/lossless-json.ts';
import type { Reason } from '../fault.ts';
import { choiceReason, customReason, lengthReason, typeReason } from '../reasons.ts';
import { hasMoreBytesThan, hasMoreCharactersThan } from '../text-limits.ts';
import { isValidId } from '../traces/trace-ids.ts';
import type { Annotation, ScoreDefinition } from './annotation.ts';
import { readJsonObject } from './json-object.ts';
import type { Scores, ScoreValue } from './score.ts';

/** Fields that a reviewer fills in. Undefined: not sent; null: no value. */
export type AnnotationContent = {
  readonly comment?: string | null | undefined;
  readonly isThumbsUp?: boolean | null | undefined;
  readonly email?: string | null | undefined;
  readonly scoresJson?: string | null | undefined;
  readonly expectedOutput?: string | null | undefined;
};

export type AnnotationDraft = AnnotationContent &
  Pick<Annotation, 'spanId' | 'anchorPath'> & {
    readonly traceId: string;
    /** Null: not sent. */
    readonly anchorKind: Annotation['anchorKind'] | null;
  };

const TEXT_MAX_BYTES = 16 * 1024;
const OUTPUT_MAX_BYTES = 64 * 1024;
/** Of the JSON of all scores together. */
const SCORES_MAX_BYTES = 64 * 1024;
const EMAIL_CHARACTERS_MAX = 320;
const PATH_CHARACTERS_MAX = 512;
const SCORES_MAX = 50;
/** Values of scores are not nested. */
const DEPTH_MAX = 10;

/** Problems that need no definition of a score. */
export function contentProblems({ comment, email, expectedOutput }: AnnotationContent): readonly Reason[] {
  return [
    ...tooLong('comment', comment, TEXT_MAX_BYTES),
    ...tooLong('expectedOutput', expectedOutput, OUTPUT_MAX_BYTES),
    ...(email && (hasMoreCharactersThan(email, EMAIL_CHARACTERS_MAX) || !email.includes('@'))
      ? [customReason('email', `email must be an address of at most ${EMAIL_CHARACTERS_MAX} characters`)]
      : []),
    ...[comment, email, expectedOutput].flatMap((text, index) =>
      text?.includes('\0') ? [nulReason(['comment', 'email', 'expectedOutput'][index] ?? '')] : [],
    ),
  ];
}

/** The problem of scores that are long together, though each of their texts is short enough. */
export function scoresProblems(scoresJson: string | null | undefined): readonly Reason[] {
  return tooLong('scoreOptions', scoresJson ?? '', SCORES_MAX_BYTES);
}

export function draftProblems(draft: AnnotationDraft): readonly Reason[] {
  return [...emptyProblems(draft), ...contentProblems(draft), ...anchorProblems(draft)];
}

/** The problem of an annotation that says nothing: a new one, or one from which everything was removed. */
export function emptyProblems(content: AnnotationContent): readonly Reason[] {
  const { comment, isThumbsUp, scoresJson, expectedOutput } = content;
  const isEmpty = !comment && (isThumbsUp ?? null) === null && (scoresJson ?? '{}') === '{}' && !expectedOutput;
  return isEmpty ? [EMPTY] : [];
}

const EMPTY = customReason('comment', 'a comment, isThumbsUp, scoreOptions or expectedOutput is required');

/** The kind of what is annotated, where it was not sent. */
export function anchorKindOf({ anchorKind, spanId }: AnnotationDraft): Annotation['anchorKind'] {
  return anchorKind ?? (spanId === null ? 'trace' : 'span');
}

function anchorProblems(draft: AnnotationDraft): readonly Reason[] {
  const { spanId, anchorPath } = draft;
  const kind = anchorKindOf(draft);
  const [needsSpan, needsPath] = [kind === 'span', kind === 'message' || kind === 'field'];
  return [
    ...(needsSpan && spanId === null ? [typeReason('spanId', 'string', 'undefined')] : []),
    ...(kind === 'trace' && spanId !== null ? [customReason('spanId', 'spanId names a part of the trace')] : []),
    ...(spanId !== null && !isValidId(spanId) ? [lengthReason('spanId', '1 to 200 characters')] : []),
    ...(needsPath && anchorPath === null ? [typeReason('anchorPath', 'string', 'undefined')] : []),
    ...(!needsPath && anchorPath !== null
      ? [customReason('anchorPath', 'anchorPath is only of the kinds message and field')]
      : []),
    ...(anchorPath !== null && (anchorPath === '' || hasMoreCharactersThan(anchorPath, PATH_CHARACTERS_MAX))
      ? [lengthReason('anchorPath', `1 to ${PATH_CHARACTERS_MAX} characters`)]
      : []),
    ...(anchorPath?.includes('\0') ? [nulReason('anchorPath')] : []),
  ];
}

export type ReadScores = { readonly scores: Scores; readonly reasons: readonly Reason[] };

/**
 * Reads scores by their definitions. Those that the annotation has already are kept as they are, whatever became of their
 * definition.
 */
export function readScores(json: string, definitions: readonly ScoreDefinition[], known: Scores): ReadScores {
  const field = 'scoreOptions';
  const { object: sent, reason: problem } = readJsonObject(field, json, DEPTH_MAX);
  if (sent === null) return { scores: {}, reasons: [problem] };
  const entries = Object.entries(sent);
  if (entries.length > SCORES_MAX)
    return { scores: {}, reasons: [lengthReason(field, `at most ${SCORES_MAX} members`)] };
  const byId = new Map(definitions.map((definition) => [definition.id, definition]));
  const scores: [string, Scores[string]][] = [];
  const reasons: Reason[] = [];
  for (const [id, score] of entries) {
    const path = `${field}.${id}`;
    if (!isObject(score)) {
      reasons.push(typeReason(path, 'object', jsonTypeOf(score)));
      continue;
    }
    const { value = null, reason = null } = score;
    if (value === null) continue;
    const definition = byId.get(id);
    const plain = plainValue(value);
    const isKnown = Object.hasOwn(known, id) && known[id]?.value === plain;
    const problem = isKnown ? null : valueProblem(`${path}.value`, plain, definition);
    if (problem !== null) reasons.push(problem);
    if (reason !== null && typeof reason !== 'string')
      reasons.push(typeReason(`${path}.reason`, 'string', jsonTypeOf(reason)));
    else if (reason !== null) reasons.push(...tooLong(`${path}.reason`, reason, TEXT_MAX_BYTES));
    if (plain !== null) scores.push([id, { value: plain, ...(typeof reason === 'string' ? { reason } : {}) }]);
  }
  return { scores: Object.fromEntries(scores), reasons };
}

/** Null for a value that no score has. */
function plainValue(value: LosslessJson): ScoreValue | null {
  return typeof value === 'string' || typeof value === 'boolean' ? value : numberOf(value);
}

function valueProblem(field: string, value: ScoreValue | null, definition: ScoreDefinition | undefined): Reason | null {
  if (definition === undefined) return customReason(field, `${field} is of a score that is not defined`);
  const { active, dataType, options, min, max } = definition;
  if (!active) return customReason(field, `${field} is of a score that is not active`);
  if (dataType === 'BOOLEAN') return typeof value === 'boolean' ? null : typeReason(field, 'boolean', typeof value);
  if (dataType === 'NUMERIC') {
    if (typeof value !== 'number') return typeReason(field, 'number', typeof value);
    if (value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY)) return null;
    return customReason(field, `${field} must be ${spellBounds(min, max)}`);
  }
  if (typeof value !== 'string') return typeReason(field, 'string', typeof value);
  if (dataType === 'CATEGORICAL') return options.includes(value) ? null : choiceReason(field, options, value);
  return tooLong(field, value, TEXT_MAX_BYTES)[0] ?? null;
}

function spellBounds(min: number | null, max: number | null): string {
  if (min === null) return `at most ${max}`;
  return max === null ? `at least ${min}` : `from ${min} to ${max}`;
}

function tooLong(field: string, text: string | null | undefined, bytesMax: number): readonly Reason[] {
  return text && hasMoreBytesThan(text, bytesMax) ? [lengthReason(field, `at most ${bytesMax} bytes`)] : [];
}

function nulReason(field: string): Reason {
  return { field, type: 'invalid_format', message: `${field} must not contain the character U+0000` };
}
