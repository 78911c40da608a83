/** Typed values: inputs and outputs of spans, each with its type. */

import { isAbsent, isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { isUnreadable, type Sent, type TypedDraft } from './collector-draft.ts';
import { cleanText, countGrown, type Reading, readFreeJson, reject } from './collector-reading.ts';

/** A value with its type. */
type Typed = LosslessObject & { readonly type: string; readonly value: LosslessJson };

const CHAT_PREFIX = '{"type":"chat_messages",';

/** Free JSON as a typed value. Without a type, a string is text and anything else is json. */
export function toTypedDraft(value: LosslessJson | undefined, path: string): TypedDraft | undefined {
  if (isAbsent(value)) return undefined;
  const { type, value: content } = toTyped(value);
  return { type, value: content, path: content === value ? path : `${path}.value` };
}

/** The list of outputs of older clients: one becomes a plain value, several become a list. */
export function toListDraft(values: readonly LosslessJson[], path: string): TypedDraft | undefined {
  if (values.length === 0) return undefined;
  return values.length === 1 ? toTypedDraft(values[0], `${path}[0]`) : { type: 'list', value: values, path };
}

/** Compact JSON text of {"type","value"}; null when it is not sent or refused. */
export function readTypedValue(sent: Sent<TypedDraft>, reading: Reading): string | null {
  if (sent === undefined) return null;
  if (isUnreadable(sent)) return reject(reading, sent.path, sent.reason);
  const { value, path } = sent;
  // A value of another shape than its type is still worth reading.
  const type = hasShape(sent) ? sent.type : 'json';
  const content = type === 'list' && isArray(value) ? typeItems(value, path, reading) : value;
  const text = readFreeJson(content, path, reading);
  return text === null ? null : `{"type":${JSON.stringify(cleanText(type, reading))},"value":${text}}`;
}

/** Whether a stored typed value is a conversation. */
export function isChat(typedValueJson: string | null): boolean {
  return typedValueJson?.startsWith(CHAT_PREFIX) ?? false;
}

function toTyped(value: LosslessJson): Typed {
  if (typeof value === 'string') return { type: 'text', value };
  return isTyped(value) ? value : { type: 'json', value };
}

function isTyped(value: LosslessJson): value is Typed {
  return isObject(value) && typeof value.type === 'string' && value.value !== undefined;
}

// Stored lists hold typed values only, so that no reader has to guess.
function typeItems(items: readonly LosslessJson[], field: string, reading: Reading): readonly LosslessJson[] {
  if (items.every(isTyped) || !countGrown(items.length, field, reading)) return items;
  return items.map(toTyped);
}

function hasShape({ type, value }: Pick<TypedDraft, 'type' | 'value'>): boolean {
  switch (type) {
    case 'text':
    case 'raw':
      return typeof value === 'string';
    case 'chat_messages':
      return isArray(value) && value.every(isMessage);
    case 'list':
      return isArray(value) && value.every((item) => !isTyped(item) || hasShape(item));
    case 'guardrail_result':
    case 'evaluation_result':
      return isObject(value);
    default:
      return true;
  }
}

function isMessage(message: LosslessJson): boolean {
  if (!isObject(message)) return false;
  const { role, content } = message;
  const hasRole = isAbsent(role) || typeof role === 'string';
  return hasRole && (isAbsent(content) || typeof content === 'string' || isArray(content));
}
