/** Reads sent messages into their visible parts, without losing any content. */

import { parseExactly, readScalar, writeExactly } from './exact-json.ts';

type Part = { readonly kind: 'text' | 'json'; readonly text: string; readonly title?: string };
export type Message = { readonly role: string; readonly parts: readonly Part[] };

/** Null if the JSON is not a list of messages. */
export function readMessages(json: string): readonly Message[] | null {
  const messages = parseExactly(json);
  if (!Array.isArray(messages) || !messages.every(isRecord)) return null;
  return messages.map((message) => ({ role: textOf(message.role) ?? 'message', parts: partsOf(message) }));
}

function partsOf({
  role,
  content,
  tool_calls: calls,
  function_call: call,
  ...others
}: Record<string, unknown>): Part[] {
  const parts = Array.isArray(content) ? content.flatMap(partOf) : partOf(content);
  const called = Array.isArray(calls) ? calls : calls == null ? [] : [calls];
  const all = [...called, ...(call == null ? [] : [call])];
  const odd = textOf(role) === null ? { role } : {};
  return [...parts, ...all.flatMap(callOf), ...restOf({ ...odd, ...others }, 'also sent')];
}

function partOf(content: unknown): Part[] {
  if (content == null || content === '') return [];
  if (!isRecord(content)) {
    const { text, isString } = readScalar(content);
    return [isString ? { kind: 'text', text } : { kind: 'json', text: writeExactly(content) }];
  }
  const shown = writtenOf(content);
  if (shown === null) {
    const title = textOf(content.type);
    return [{ kind: 'json', text: writeExactly(content), ...(title === null ? {} : { title }) }];
  }
  const { type, [shown.member]: _, ...others } = content;
  const title = textOf(type);
  const isText = title === null || TEXT_TYPES.has(title);
  const rest = restOf(title === null ? { type, ...others } : others, 'also sent');
  return [{ kind: 'text', text: shown.text, ...(isText ? {} : { title }) }, ...rest];
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);
/** OpenTelemetry's conventions have the words of these parts in `content`, which is data in others. */
const TYPES_OF_WORDS: ReadonlySet<string> = new Set([...TEXT_TYPES, 'reasoning']);

/** What a part says in words, and in which member. */
function writtenOf({ type, text, content }: Record<string, unknown>): { member: string; text: string } | null {
  if (typeof text === 'string') return { member: 'text', text };
  const isOfWords = TYPES_OF_WORDS.has(textOf(type) ?? 'text');
  return isOfWords && typeof content === 'string' ? { member: 'content', text: content } : null;
}

function callOf(call: unknown): Part[] {
  const named = isRecord(call) && isRecord(call.function) ? call.function : call;
  if (!isRecord(call) || !isRecord(named)) return [{ kind: 'json', text: writeExactly(call), title: 'calls a tool' }];
  const { name, arguments: written, args, input, ...others } = named;
  const argument = written ?? args ?? input ?? null;
  const text = typeof argument === 'string' && isJson(argument) ? argument : writeExactly(argument);
  const { function: _, type, ...around } = named === call ? others : { ...call, ...others };
  const rest = { ...(type === 'function' ? {} : { type }), ...around };
  return [{ kind: 'json', title: `calls ${textOf(name) ?? 'a tool'}`, text }, ...restOf(rest, 'of this call')];
}

/** The other members, without empty ones. */
function restOf(members: Record<string, unknown>, title: string): Part[] {
  const present = Object.entries(members).filter(([, value]) => value != null && value !== '');
  return present.length === 0 ? [] : [{ kind: 'json', title, text: writeExactly(Object.fromEntries(present)) }];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  const { text, isString } = readScalar(value);
  return isString ? text : null;
}
