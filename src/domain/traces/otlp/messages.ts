/** Chat messages of all conventions in one form: parts are their content, and calls of tools stand beside it. */

import { isAbsent, isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { isCallPart, isTypedPart, messageText } from '../chat-parts.ts';
import type { TypedDraft } from '../collector/collector-draft.ts';
import type { AttributeJson } from './attribute-json.ts';

/** The chat messages of a value; null: no chat. */
export function messagesIn(value: LosslessJson): readonly LosslessObject[] | null {
  const items = isArray(value) ? value : [value];
  return items.length > 0 && items.every(isMessage) ? items.map(toMessage) : null;
}

function isMessage(item: LosslessJson): item is LosslessObject {
  if (!isObject(item) || typeof item.role !== 'string') return false;
  const { content } = item;
  return isAbsent(content) || typeof content === 'string' || isArray(content);
}

function toMessage(message: LosslessObject): LosslessObject {
  // OpenTelemetry's conventions call the content of a message `parts`.
  if (!isArray(message.parts) || !isAbsent(message.content)) return withCalls(message);
  const { parts, ...others } = message;
  return withCalls({ ...others, content: parts });
}

/** Moves the calls of tools from the parts of a message beside its content. */
function withCalls(message: LosslessObject): LosslessObject {
  const { content, tool_calls: sent } = message;
  const known = isArray(sent) ? sent.map(withFunction) : [];
  if (!isArray(content) || !content.some(isCallPart)) {
    return known.length === 0 ? message : { ...message, tool_calls: known };
  }
  // OpenInference writes each call both as a part and beside the parts.
  const knownIds = new Set(known.map((call) => (isObject(call) ? call.id : undefined)));
  const calls = content.filter(isCallPart).map(toToolCall);
  const others = content.filter((part) => !isCallPart(part));
  return {
    ...message,
    content: others.length === 0 ? null : others,
    tool_calls: [...known, ...calls.filter(({ id }) => isAbsent(id) || !knownIds.has(id))],
  };
}

/** OpenLLMetry has the name of a call beside its id. */
function withFunction(call: LosslessJson): LosslessJson {
  return isObject(call) && isAbsent(call.function) && typeof call.name === 'string' ? toToolCall(call) : call;
}

const PARTS = /^\s*\[\s*\{/;

/** The content of a message in an attribute of its own, where some write parts as their JSON text. */
export function contentIn(value: LosslessJson, json: AttributeJson): LosslessJson {
  if (typeof value !== 'string' || !PARTS.test(value)) return value;
  const parts = json.parsed(value);
  return isArray(parts) && parts.every(isTypedPart) && json.fitsMessages(parts) ? parts : value;
}

/** A call of a tool as OpenAI writes it, from any convention's. Its arguments stay a text or JSON, as they were sent. */
export function toToolCall(call: LosslessObject): LosslessObject {
  const { type: _, id, toolCallId, function: called, name, toolName, arguments: given, input, args, ...others } = call;
  const callId = id ?? toolCallId;
  const callArguments = given ?? input ?? args;
  return {
    ...(callId === undefined ? {} : { id: callId }),
    type: 'function',
    function: called ?? {
      name: name ?? toolName ?? null,
      ...(callArguments === undefined ? {} : { arguments: callArguments }),
    },
    ...others,
  };
}

/** The messages of system instructions: a text, its parts, or whole messages. */
export function instructionsIn(value: LosslessJson): readonly LosslessObject[] {
  if (typeof value === 'string') return value === '' ? [] : [systemMessage(value)];
  const parts = isArray(value) ? value : [value];
  return parts.length === 0 ? [] : (messagesIn(parts) ?? [systemMessage(parts)]);
}

function systemMessage(content: LosslessJson): LosslessObject {
  return { role: 'system', content };
}

/** An input behind the instructions, unless its messages repeat them. JSON of another form stays alone. */
export function leadWith(instructions: readonly LosslessObject[], input: TypedDraft): TypedDraft {
  const { type, value } = input;
  if (instructions.length === 0) return input;
  if (type === 'text') {
    return { ...input, type: 'chat_messages', value: [...instructions, { role: 'user', content: value }] };
  }
  if (type !== 'chat_messages' || !isArray(value)) return input;
  const known = new Set(value.filter(isInstruction).map(messageText));
  return { ...input, value: [...instructions.filter((message) => !known.has(messageText(message))), ...value] };
}

function isInstruction(message: LosslessJson): message is LosslessObject {
  return isObject(message) && (message.role === 'system' || message.role === 'developer');
}
