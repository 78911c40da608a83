/** Typed values: what went into a step or came out of it, with the way to read it. */

import { isAbsent, type Reading, readFreeJson, refuse, tidyText } from './collector-reading.ts';
import { isArray, isObject } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';

/** A value that says how to read it. */
type Typed = LosslessObject & { readonly type: string; readonly value: LosslessJson };

const CHAT_PREFIX = '{"type":"chat_messages",';

/**
 * Compact JSON text of {"type","value"}; null when absent or refused. Values without a type are
 * accepted: a string is text, anything else is json.
 */
export function readTypedValue(value: LosslessJson | undefined, field: string, reading: Reading): string | null {
  if (isAbsent(value)) return null;
  const typed = toTyped(value);
  return readTyped(typed, typed === value ? `${field}.value` : field, reading);
}

/** Reads the list of outputs that older clients send: one stands for itself, several for a list. */
export function readTypedValues(
  values: readonly LosslessJson[] | null,
  field: string,
  reading: Reading,
): string | null {
  if (values === null || values.length === 0) return null;
  if (values.length === 1) return readTypedValue(values[0], `${field}[0]`, reading);
  return readTyped({ type: 'list', value: values }, field, reading);
}

/** Whether a stored typed value is a conversation. */
export function isChat(typedValueJson: string | null): boolean {
  return typedValueJson?.startsWith(CHAT_PREFIX) ?? false;
}

function readTyped(typed: Typed, valueField: string, reading: Reading): string | null {
  checkShape(typed, valueField, reading);
  const content = typed.type === 'list' && isArray(typed.value) ? typeItems(typed.value) : typed.value;
  const text = readFreeJson(content, valueField, reading);
  return text === null ? null : `{"type":${JSON.stringify(tidyText(typed.type, reading))},"value":${text}}`;
}

function toTyped(value: LosslessJson): Typed {
  if (typeof value === 'string') return { type: 'text', value };
  return isTyped(value) ? value : { type: 'json', value };
}

function isTyped(value: LosslessJson): value is Typed {
  return isObject(value) && typeof value.type === 'string' && value.value !== undefined;
}

// Stored lists hold typed values only, so that no reader has to guess.
function typeItems(items: readonly LosslessJson[]): readonly LosslessJson[] {
  return items.every(isTyped) ? items : items.map(toTyped);
}

function checkShape({ type, value }: Typed, field: string, reading: Reading): void {
  switch (type) {
    case 'text':
    case 'raw':
      if (typeof value !== 'string') refuse(reading, field, 'must be a string');
      return;
    case 'chat_messages':
      if (isArray(value)) checkMessages(value, field, reading);
      else refuse(reading, field, 'must be an array');
      return;
    case 'list':
      if (isArray(value)) checkItems(value, field, reading);
      else refuse(reading, field, 'must be an array');
      return;
    case 'guardrail_result':
    case 'evaluation_result':
      if (!isObject(value)) refuse(reading, field, 'must be an object');
  }
}

function checkMessages(messages: readonly LosslessJson[], field: string, reading: Reading): void {
  for (let index = 0; index < messages.length && reading.problem === null; index += 1) {
    const message = messages[index];
    if (!isObject(message)) {
      refuse(reading, `${field}[${index}]`, 'must be an object');
      return;
    }
    const { role, content } = message;
    if (!isAbsent(role) && typeof role !== 'string') refuse(reading, `${field}[${index}].role`, 'must be a string');
    if (!isAbsent(content) && typeof content !== 'string' && !isArray(content)) {
      refuse(reading, `${field}[${index}].content`, 'must be a string, an array or null');
    }
  }
}

function checkItems(items: readonly LosslessJson[], field: string, reading: Reading): void {
  for (let index = 0; index < items.length && reading.problem === null; index += 1) {
    const item = items[index];
    if (item !== undefined && isTyped(item)) checkShape(item, `${field}[${index}].value`, reading);
  }
}
