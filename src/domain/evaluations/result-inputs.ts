/**
 * What a result stores of its inputs: of a text that is on the trace only a reference, because results would else multiply
 * what a trace takes by its evaluators; of other texts the short ones whole, and of long ones an excerpt.
 */

import { createHash } from 'node:crypto';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { hasMoreBytesThan, truncateToBytes } from '../text-limits.ts';
import type { EvaluationRun, EvaluationValue } from './outcome.ts';

/** A field of a trace, or of one of its spans. */
export type TraceField = {
  /** Null: of the trace itself. */
  readonly spanId: string | null;
  /** Of a span `input`, `output` or `contexts`; of a trace `contexts`, `expected_output` or `metadata.<key>`. */
  readonly name: string;
};

/** From which field of the trace each field of the evaluator was read; other texts are not on the trace. */
export type Origins = { readonly [field: string]: TraceField };

/** A judged text that is on the trace. */
export type InputReference = {
  readonly origin: TraceField;
  readonly bytes: number;
  /** Of the text; of a list of its JSON text. */
  readonly sha256: string;
  /** For when the field has another text by now. */
  readonly excerpt: string;
};

type StoredInput = { readonly value: LosslessJson } | { readonly reference: InputReference };

/** Of an input that is not on the trace. */
const INPUT_MAX_BYTES = 4096;
const EXCERPT_BYTES = 3900;
/** Of an input that is on the trace: a reference takes about as much. */
const UNREFERRED_MAX_BYTES = 512;
const REFERENCE_EXCERPT_BYTES = 200;

/**
 * Before stored inputs with references. Inputs that a sender chooses are stored as compact JSON text, which never begins
 * with a space, so none of them passes for a reference.
 */
const MARK = ' ';

/** The JSON text to store. */
export function inputsToStore(data: EvaluationRun['data'], origins: Origins): string {
  const inputs = Object.entries(data).map(([field, value]) => [field, toStored(value, origins[field])] as const);
  if (!inputs.some(([, input]) => 'reference' in input)) return JSON.stringify(excerptsOf(data));
  return MARK + JSON.stringify(Object.fromEntries(inputs));
}

/** Null for inputs without references, which are shown as they are stored. */
export function readReferences(inputsJson: string | null): { readonly [field: string]: StoredInput } | null {
  return inputsJson?.startsWith(MARK) ? JSON.parse(inputsJson) : null;
}

/** Whether exactly these inputs are stored, wherever they were read from. */
export function areInputsStored(inputsJson: string | null, data: EvaluationRun['data']): boolean {
  const stored = readReferences(inputsJson);
  if (stored === null) return inputsJson === JSON.stringify(excerptsOf(data));
  const fields = Object.keys(data);
  return (
    fields.length === Object.keys(stored).length &&
    Object.entries(data).every(([field, value]) => isStoredAs(value, stored[field]))
  );
}

/** Whether a reference to the input would be stored if it is on the trace. */
export function isWorthReferring(value: EvaluationValue): boolean {
  return hasMoreBytesThan(inputText(value), UNREFERRED_MAX_BYTES);
}

/** By which inputs are compared. */
export function inputText(value: LosslessJson): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function hashInput(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What is shown of a text that is not on the trace any more. It names the hash, so that no other text looks like it. */
export function excerptOf({ excerpt, sha256 }: Pick<InputReference, 'excerpt' | 'sha256'>): string {
  return `${excerpt} [sha256 ${sha256}]`;
}

function toStored(value: EvaluationValue, origin: TraceField | undefined): StoredInput {
  if (origin === undefined || !isWorthReferring(value)) return { value: orExcerpt(value) };
  const text = inputText(value);
  const excerpt = truncateToBytes(text, REFERENCE_EXCERPT_BYTES);
  return { reference: { origin, bytes: Buffer.byteLength(text), sha256: hashInput(text), excerpt } };
}

function isStoredAs(value: EvaluationValue, stored: StoredInput | undefined): boolean {
  if (stored === undefined) return false;
  if ('reference' in stored) return stored.reference.sha256 === hashInput(inputText(value));
  return JSON.stringify(stored.value) === JSON.stringify(orExcerpt(value));
}

function excerptsOf(data: EvaluationRun['data']): LosslessObject {
  return Object.fromEntries(Object.entries(data).map(([field, value]) => [field, orExcerpt(value)]));
}

function orExcerpt(value: EvaluationValue): LosslessJson {
  const text = inputText(value);
  if (!hasMoreBytesThan(text, INPUT_MAX_BYTES)) return value;
  return excerptOf({ excerpt: truncateToBytes(text, EXCERPT_BYTES), sha256: hashInput(text) });
}
