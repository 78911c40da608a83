/** Reads sent messages into their visible parts, without losing any content. Knows how the common providers write them. */

import { isRecord, parseExactly, readScalar, textOf, writeExactly } from './exact-json.ts';
import { type Media, mediaOfText, readMedia } from './messages-media.ts';

type Words = {
  readonly kind: 'text' | 'json';
  readonly text: string;
  readonly title?: string;
  /** Members that nothing else shows. */
  readonly rest?: true;
};
export type CallPart = {
  readonly kind: 'call';
  readonly id: string | null;
  readonly name: string;
  /** The arguments as JSON. */
  readonly text: string;
};
export type ResultPart = {
  readonly kind: 'result';
  readonly id: string | null;
  readonly name: string | null;
  readonly failed: boolean;
  readonly parts: readonly Part[];
};
export type Part =
  | Words
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'media'; readonly media: Media }
  | CallPart
  | ResultPart;

export type Message = {
  readonly role: string;
  readonly parts: readonly Part[];
  /** What was sent, as `parseExactly` reads it. */
  readonly source: unknown;
};

/** Null if the JSON is neither a list of messages nor an object that has one. */
export function readMessages(json: string): readonly Message[] | null {
  const value = parseExactly(json);
  const messages = isRecord(value) ? value.messages : value;
  if (!Array.isArray(messages) || !messages.every(isRecord)) return null;
  if (isRecord(value) && !messages.every(isMessage)) return null;
  return messages.map((message) => ({ role: roleOf(message), parts: partsOf(message), source: message }));
}

/** A result inside of a result, and so on, is data from here on. */
const DEPTH_MAX = 4;
const ITEM_ROLES: Readonly<Record<string, string>> = {
  function_call: 'assistant',
  reasoning: 'assistant',
  function_call_output: 'tool',
};
const ROLES_OF_TOOLS: ReadonlySet<string> = new Set(['tool', 'function']);

function isMessage(message: Record<string, unknown>): boolean {
  return textOf(message.role) !== null || Object.hasOwn(ITEM_ROLES, textOf(message.type) ?? '');
}

function roleOf({ role, type }: Record<string, unknown>): string {
  const item = textOf(type) ?? '';
  return textOf(role) ?? (Object.hasOwn(ITEM_ROLES, item) ? ITEM_ROLES[item] : undefined) ?? 'message';
}

function partsOf(message: Record<string, unknown>): readonly Part[] {
  if (message.role === undefined && Object.hasOwn(ITEM_ROLES, textOf(message.type) ?? '')) return partOf(message, 0);
  const { role, content, tool_calls: calls, function_call: call, reasoning_content: reasoning, ...others } = message;
  const { parts: listed, ...beside } = others;
  // Google's messages and those of OpenTelemetry have parts instead of content.
  const isOfParts = content == null && Array.isArray(listed);
  const said = partsOfContent(isOfParts ? listed : content, 0);
  const rest = isOfParts ? beside : others;
  if (ROLES_OF_TOOLS.has(textOf(role) ?? '') && !said.some(({ kind }) => kind === 'result')) {
    return [resultOf(said, rest)];
  }
  const thoughts: readonly Part[] =
    typeof reasoning === 'string' ? thoughtsOf(reasoning) : partsOfContent(reasoning, 0);
  const called = Array.isArray(calls) ? calls : calls == null ? [] : [calls];
  const all = [...called, ...(call == null ? [] : [call])];
  const odd = textOf(role) === null ? { role } : {};
  return [...thoughts, ...said, ...all.flatMap(callOf), ...restOf({ ...odd, ...rest }, 'Other members')];
}

function partsOfContent(content: unknown, depth: number): readonly Part[] {
  return Array.isArray(content) ? content.flatMap((each) => partOf(each, depth)) : partOf(content, depth);
}

/** A message of a tool is the result of a call. */
function resultOf(parts: readonly Part[], { tool_call_id, name, status, ...others }: Record<string, unknown>): Part {
  const id = textOf(tool_call_id);
  const odd = {
    ...(id === null ? { tool_call_id } : {}),
    ...(textOf(name) === null ? { name } : {}),
    status,
    ...others,
  };
  const all = [...parts, ...restOf(odd, 'Other members')];
  return { kind: 'result', id, name: textOf(name), failed: status === 'error', parts: all };
}

const CALLS: ReadonlySet<string> = new Set(['tool_use', 'server_tool_use', 'tool_call', 'tool-call', 'function_call']);
const RESULTS: ReadonlySet<string> = new Set([
  'tool_result',
  'tool-result',
  'tool_call_response',
  'function_call_output',
]);
const THOUGHTS: ReadonlySet<string> = new Set(['thinking', 'reasoning']);

function partOf(content: unknown, depth: number): readonly Part[] {
  if (content == null || content === '') return [];
  if (!isRecord(content)) {
    const { text, isString } = readScalar(content);
    return isString ? partsOfText(text) : [{ kind: 'json', text: writeExactly(content) }];
  }
  const title = textOf(content.type);
  if (title !== null && CALLS.has(title)) return callOf(content);
  if (title !== null && RESULTS.has(title) && depth < DEPTH_MAX) return [partOfResult(content, depth)];
  if (title !== null && THOUGHTS.has(title)) return partsOfThought(content);
  const { functionCall, functionResponse, ...around } = content;
  if (isRecord(functionCall)) return [...callOf(functionCall), ...restOf(around, 'Other members')];
  if (isRecord(functionResponse)) return [partOfResult(functionResponse, depth), ...restOf(around, 'Other members')];
  const media = readMedia(content);
  if (media !== null) return [{ kind: 'media', media: media.media }, ...restOf(media.others, 'Other members')];
  const shown = writtenOf(content);
  if (shown === null) {
    return [{ kind: 'json', text: writeExactly(content), ...(title === null ? {} : { title }) }];
  }
  const { type, [shown.member]: _, ...others } = content;
  const isText = title === null || TEXT_TYPES.has(title);
  const rest = restOf(title === null ? { type, ...others } : others, 'Other members');
  return [{ kind: 'text', text: shown.text, ...(isText ? {} : { title }) }, ...rest];
}

/** Tools return pictures as data URLs, too. */
export function partsOfText(text: string): readonly Part[] {
  if (text === '') return [];
  const media = mediaOfText(text);
  return [media === null ? { kind: 'text', text } : { kind: 'media', media }];
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** What a part says in words, and in which member. OpenTelemetry has it in `content`, which is data in other parts. */
function writtenOf({ type, text, content }: Record<string, unknown>): { member: string; text: string } | null {
  if (typeof text === 'string') return { member: 'text', text };
  return TEXT_TYPES.has(textOf(type) ?? 'text') && typeof content === 'string'
    ? { member: 'content', text: content }
    : null;
}

function partsOfThought(content: Record<string, unknown>): readonly Part[] {
  const { type: _, thinking, text, content: words, summary, ...others } = content;
  const known = [thinking, text, words].filter((each) => typeof each === 'string');
  const listed = Array.isArray(summary) ? summary : [];
  const summed = listed.map((each) => (isRecord(each) ? writtenOf({ ...each, type: 'text' })?.text : undefined));
  const isRead = listed.every((_each, index) => summed[index] !== undefined);
  const odd = [thinking, text, words].filter((each) => each != null && typeof each !== 'string');
  const rest = { ...others, ...(isRead ? {} : { summary }), ...(odd.length > 0 && { content: odd }) };
  const said = [...known, ...(isRead ? summed : [])].filter((each) => each !== undefined && each !== '').join('\n\n');
  return [...thoughtsOf(said), ...restOf(rest, 'Other members')];
}

function thoughtsOf(text: string): readonly Part[] {
  return text === '' ? [] : [{ kind: 'reasoning', text }];
}

function callOf(call: unknown): readonly Part[] {
  const named = isRecord(call) && isRecord(call.function) ? call.function : call;
  if (!isRecord(call) || !isRecord(named)) {
    return [{ kind: 'call', id: null, name: 'a tool', text: writeExactly(call) }];
  }
  const { name, toolName, arguments: written, args, input, ...others } = named;
  const argument = written ?? args ?? input ?? null;
  const text = typeof argument === 'string' && isJson(argument) ? argument : writeExactly(argument);
  const { function: _, type, ...around } = named === call ? others : { ...call, ...others };
  const { id, call_id, toolCallId, ...rest } = around as Record<string, unknown>;
  // The id of an item of OpenAI's Responses is not the one that results name.
  const called = textOf(call_id) ?? textOf(id) ?? textOf(toolCallId);
  const kept = { ...(called === null ? { id } : {}), ...(isKnownCall(type) ? {} : { type }), ...rest };
  const shown = textOf(name) ?? textOf(toolName) ?? 'a tool';
  return [{ kind: 'call', id: called, name: shown, text }, ...restOf(kept, 'Other members of the call')];
}

function isKnownCall(type: unknown): boolean {
  return type === 'function' || CALLS.has(textOf(type) ?? '');
}

function partOfResult(content: Record<string, unknown>, depth: number): ResultPart {
  const { type: _, tool_use_id, call_id, toolCallId, tool_call_id, id, name, toolName, is_error, ...others } = content;
  const { content: said, output, result, response, ...rest } = others;
  const value = said ?? output ?? result ?? response ?? null;
  const shown = isRecord(value) && typeof value.type === 'string' && 'value' in value ? value.value : value;
  const named = [tool_use_id, call_id, toolCallId, tool_call_id, id].map(textOf).find((each) => each !== null);
  const parts = [...partsOfContent(shown, depth + 1), ...restOf(rest, 'Other members')];
  return {
    kind: 'result',
    id: named ?? null,
    name: textOf(name) ?? textOf(toolName),
    failed: is_error === true,
    parts,
  };
}

/** The other members, without empty ones. */
function restOf(members: Record<string, unknown>, title: string): readonly Words[] {
  const present = Object.entries(members).filter(([, value]) => value != null && value !== '' && !isEmptyList(value));
  return present.length === 0
    ? []
    : [{ kind: 'json', rest: true, title, text: writeExactly(Object.fromEntries(present)) }];
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
