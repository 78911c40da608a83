/** What the parts of chat messages are: text, calls of tools, or something else, such as reasoning, images and files. */

import { isAbsent, isArray, isObject } from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';

const TEXT_TYPES: ReadonlySet<LosslessJson> = new Set(['text', 'input_text', 'output_text']);
const CALL_TYPES: ReadonlySet<LosslessJson> = new Set(['tool_call', 'tool-call', 'tool_use', 'function_call']);
const OTHER_TYPES: ReadonlySet<LosslessJson> = new Set([
  ...['reasoning', 'thinking', 'redacted_thinking'],
  ...['image', 'image_url', 'input_image', 'audio', 'input_audio', 'file', 'input_file', 'document', 'blob', 'uri'],
  ...['tool_result', 'tool-result', 'tool_call_response'],
]);

/** The text of a message: its content, or the parts of it that are text. */
export function messageText(message: LosslessObject): string {
  const content = contentOf(message);
  if (typeof content === 'string') return content;
  return isArray(content) ? content.flatMap(partTexts).join('\n') : '';
}

/** The calls of tools in a message, beside its content or among its parts. */
export function callsOf(message: LosslessObject): readonly LosslessJson[] {
  const { tool_calls: calls } = message;
  if (isArray(calls) && calls.length > 0) return calls;
  const content = contentOf(message);
  return isArray(content) ? content.filter(isCallPart) : [];
}

/** Conventions that follow Gemini and OpenTelemetry call the content `parts`. */
function contentOf({ content, parts }: LosslessObject): LosslessJson | undefined {
  return isAbsent(content) ? parts : content;
}

function partTexts(part: LosslessJson): readonly string[] {
  if (typeof part === 'string') return [part];
  if (!isObject(part) || !isTextPart(part)) return [];
  if (typeof part.text === 'string') return [part.text];
  return typeof part.content === 'string' ? [part.content] : [];
}

/** A part without a type is text, unless it is a thought of Gemini. */
function isTextPart({ type, thought }: LosslessObject): boolean {
  return isAbsent(type) ? thought !== true : TEXT_TYPES.has(type);
}

export function isCallPart(part: LosslessJson): part is LosslessObject {
  return isObject(part) && !isAbsent(part.type) && CALL_TYPES.has(part.type);
}

/** Whether a value is surely a part of a message. */
export function isTypedPart(part: LosslessJson): boolean {
  if (!isObject(part) || isAbsent(part.type)) return false;
  return TEXT_TYPES.has(part.type) || CALL_TYPES.has(part.type) || OTHER_TYPES.has(part.type);
}
