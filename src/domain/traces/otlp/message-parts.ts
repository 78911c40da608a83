/** Contents in the forms of Amazon and Google, as the parts of messages that OpenTelemetry describes. */

import { isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';

/** A message of these contents. Contents in a form of another vendor stay as they are. */
export function messageOf(role: string, content: LosslessJson): LosslessObject {
  if (!isArray(content)) return { role, content };
  const parts: readonly LosslessJson[] = content.map(toPart);
  return { role, parts };
}

/** Whether any of the items is a content without a type, which only Amazon and Google send. */
export function holdsBareContents(items: readonly LosslessJson[]): boolean {
  return items.some((item) => isObject(item) && item.type === undefined && toPart(item) !== item);
}

function toPart(item: LosslessJson): LosslessJson {
  if (!isObject(item) || item.type !== undefined) return item;
  for (const [member, convert] of CONTENTS) {
    const value = item[member];
    if (value !== undefined && value !== null) return convert(value, item);
  }
  return item;
}

type Convert = (value: LosslessJson, item: LosslessObject) => LosslessJson;

/** What a content is shows the first of these members that it has. */
const CONTENTS: readonly (readonly [member: string, convert: Convert])[] = [
  ['text', (text, { thought }) => ({ type: thought === true ? 'reasoning' : 'text', content: text })],
  ['toolUse', (call) => toolCall(call, ['toolUseId', 'input'])],
  ['toolResult', (result) => toolResponse(result, ['toolUseId', 'content'])],
  ['reasoningContent', (reasoning) => ({ type: 'reasoning', content: reasoningText(reasoning) })],
  ['function_call', (call) => toolCall(call, ['id', 'args'])],
  ['functionCall', (call) => toolCall(call, ['id', 'args'])],
  ['function_response', (response) => toolResponse(response, ['id', 'response'])],
  ['functionResponse', (response) => toolResponse(response, ['id', 'response'])],
  ['inline_data', blob],
  ['inlineData', blob],
];

type Members = readonly [id: string, content: string];

function toolCall(call: LosslessJson, [id, content]: Members): LosslessJson {
  const { [id]: callId = null, name = null, [content]: callArguments = null } = isObject(call) ? call : {};
  return { type: 'tool_call', id: callId, name, arguments: callArguments };
}

function toolResponse(result: LosslessJson, [id, content]: Members): LosslessJson {
  const { [id]: callId = null, [content]: response = null } = isObject(result) ? result : {};
  return { type: 'tool_call_response', id: callId, response };
}

function reasoningText(reasoning: LosslessJson): LosslessJson {
  if (!isObject(reasoning)) return reasoning;
  const { reasoningText: shown } = reasoning;
  return isObject(shown) ? (shown.text ?? null) : (shown ?? reasoning);
}

function blob(data: LosslessJson): LosslessJson {
  const { mime_type, mimeType = mime_type ?? null, data: content = null } = isObject(data) ? data : {};
  return { type: 'blob', mime_type: mimeType, content };
}
