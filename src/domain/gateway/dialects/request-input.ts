/** The messages or the input of a request as the span shows them. */

import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../../json/lossless-json.ts';
import { instructionsIn, leadWith, messagesIn } from '../../traces/otlp/messages.ts';
import type { RouteKind, TypedInput } from './dialect.ts';

/** Members of a body that its input holds. */
export const INPUT_NAMES: {
  readonly [route in RouteKind]: { readonly input: string; readonly system: string | null };
} = {
  chat: { input: 'messages', system: null },
  responses: { input: 'input', system: 'instructions' },
  embeddings: { input: 'input', system: null },
  messages: { input: 'messages', system: 'system' },
  count_tokens: { input: 'messages', system: 'system' },
};

export function inputOf(route: RouteKind, body: LosslessObject): TypedInput {
  const { input: name, system } = INPUT_NAMES[route];
  const sent = readMember(body, name);
  const input = toInput(route === 'responses' && isArray(sent) ? sent.map(itemToMessage) : sent, route);
  const instructions = system === null ? null : readMember(body, system);
  if (instructions === null) return input;
  const { type, value } = leadWith(instructionsIn(instructions), { ...input, path: '' });
  return type === 'chat_messages' ? { type, value } : input;
}

function toInput(value: LosslessJson, route: RouteKind): TypedInput {
  if (typeof value === 'string') return { type: 'text', value };
  const messages = isArray(value) && route !== 'embeddings' ? messagesIn(value) : null;
  return messages === null ? { type: 'json', value } : { type: 'chat_messages', value: messages };
}

/** An item of Responses that is not a message, as the message that chat completions would have. */
function itemToMessage(item: LosslessJson): LosslessJson {
  if (!isObject(item) || readMember(item, 'role') !== null) return item;
  const type = readMember(item, 'type');
  const callId = readMember(item, 'call_id');
  if (type === 'function_call' || type === 'custom_tool_call') {
    const input = readMember(item, 'arguments') ?? readMember(item, 'input');
    const called = { name: readMember(item, 'name'), arguments: input };
    return { role: 'assistant', content: null, tool_calls: [{ id: callId, type: 'function', function: called }] };
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const output = readMember(item, 'output');
    const content = typeof output === 'string' || isArray(output) ? output : [output];
    return { role: 'tool', tool_call_id: callId, content };
  }
  // Reasoning, and calls of tools that the provider ran.
  return type === null ? item : { role: 'assistant', content: [item] };
}
