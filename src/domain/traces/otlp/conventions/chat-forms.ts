/** Conversations inside requests and answers, as the APIs of models and LangChain write them. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../../json/lossless-json.ts';
import { messageOf } from '../message-parts.ts';
import { instructionsIn, toToolCall } from '../messages.ts';

/** The messages of a request; the value itself where it has none. */
export function askedIn(value: LosslessJson): LosslessJson {
  if (isArray(value)) return messagesIn(value) ?? value;
  if (!isObject(value)) return value;
  const messages =
    messagesIn(value.messages) ?? messagesIn(value.contents) ?? messagesIn(value.input) ?? questionIn(value);
  if (messages === undefined) return value;
  const instructions = value.system ?? value.instructions ?? null;
  return instructions === null ? messages : [...instructionsIn(instructions), ...messages];
}

/** The input of OpenAI's Responses may be a text. */
function questionIn({ model, input }: LosslessObject): readonly LosslessJson[] | undefined {
  return typeof model === 'string' && typeof input === 'string' ? [{ role: 'user', content: input }] : undefined;
}

/** The messages of an answer; the value itself where it has none. */
export function answeredIn(value: LosslessJson): LosslessJson {
  if (isArray(value)) return messagesIn(value) ?? streamedIn(value) ?? value;
  if (!isObject(value)) return value;
  const own = messageIn(value);
  if (own !== undefined) return [own];
  for (const [member, read] of ANSWERS) {
    const messages = read(value[member]);
    if (messages !== undefined && messages.length > 0) return messages;
  }
  // LangSmith puts an answer that is no object into one.
  return Object.keys(value).length === 1 && value.outputs !== undefined ? answeredIn(value.outputs) : value;
}

type ReadAnswer = (value: LosslessJson | undefined) => readonly LosslessJson[] | undefined;

const ANSWERS: readonly (readonly [member: string, read: ReadAnswer])[] = [
  ['choices', (choices) => messagesIn(membersOf(choices, 'message'))],
  ['generations', (generations) => messagesIn(membersOf(batchOf(generations), 'message'))],
  ['candidates', (candidates) => messagesIn(membersOf(candidates, 'content'))],
  ['message', (message) => (message === undefined ? undefined : messagesIn([message]))],
  ['output', (items) => (isArray(items) ? messagesIn(items.filter(hasRole)) : undefined)],
  // A graph answers with its whole conversation.
  ['messages', (messages) => messagesIn(messages)?.slice(-1)],
];

/** The message of the pieces in which Gemini streams an answer. */
function streamedIn(pieces: readonly LosslessJson[]): readonly LosslessJson[] | undefined {
  const messages = pieces.map((piece) =>
    isObject(piece) ? messagesIn(membersOf(piece.candidates, 'content')) : undefined,
  );
  if (messages.length === 0 || messages.includes(undefined)) return undefined;
  const parts: LosslessJson[] = [];
  for (const part of messages.flatMap((each = []) => each).flatMap(partsOf)) {
    const last = parts.at(-1);
    if (isText(part) && isText(last)) parts[parts.length - 1] = { ...last, content: `${last.content}${part.content}` };
    else parts.push(part);
  }
  return [{ role: 'assistant', parts }];
}

function partsOf(message: LosslessJson): readonly LosslessJson[] {
  return isObject(message) && isArray(message.parts) ? message.parts : [];
}

function isText(part: LosslessJson | undefined): part is LosslessObject & { readonly content: string } {
  return isObject(part) && part.type === 'text' && typeof part.content === 'string';
}

function hasRole(item: LosslessJson): boolean {
  return isObject(item) && typeof item.role === 'string';
}

function membersOf(items: LosslessJson | undefined, member: string): LosslessJson | undefined {
  return isArray(items) ? items.map((item) => (isObject(item) ? (item[member] ?? null) : null)) : undefined;
}

/** LangChain sends lists of batches; each span has one. */
function batchOf(items: LosslessJson | undefined): LosslessJson | undefined {
  const [only] = isArray(items) ? items : [];
  return isArray(only) ? only : items;
}

/** undefined unless every item is a message. */
function messagesIn(items: LosslessJson | undefined): readonly LosslessJson[] | undefined {
  const batch = batchOf(items);
  if (!isArray(batch) || batch.length === 0) return undefined;
  const messages: LosslessJson[] = [];
  for (const item of batch) {
    const message = isObject(item) ? messageIn(item) : undefined;
    if (message === undefined) return undefined;
    messages.push(message);
  }
  return messages;
}

function messageIn(item: LosslessObject): LosslessObject | undefined {
  if (typeof item.role === 'string')
    return isArray(item.parts) ? { ...item, ...ofGemini(item.role, item.parts) } : item;
  const { id, kwargs, data } = item;
  const kind = isArray(id) && isObject(kwargs) ? id.at(-1) : item.type;
  const role =
    typeof kind === 'string' ? LANGCHAIN_ROLES.get(kind.replace(/Message(Chunk)?$/, '').toLowerCase()) : undefined;
  if (role === undefined) return undefined;
  const body = isArray(id) && isObject(kwargs) ? kwargs : isObject(data) ? data : item;
  const { content = null, tool_calls: toolCalls, tool_call_id: toolCallId } = body;
  const hasCalls = isArray(toolCalls) && toolCalls.length > 0 && toolCalls.every(isObject);
  if (content === null && !hasCalls) return undefined;
  return {
    role,
    content,
    ...(hasCalls && { tool_calls: toolCalls.map(toToolCall) }),
    ...(typeof toolCallId === 'string' && { tool_call_id: toolCallId }),
  };
}

function ofGemini(role: string, parts: LosslessJson): LosslessObject {
  return messageOf(role === 'model' ? 'assistant' : role, parts);
}

const LANGCHAIN_ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
  ['function', 'function'],
]);
