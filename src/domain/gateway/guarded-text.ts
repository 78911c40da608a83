/** What guardrails see of the messages of a request or an answer: every text in them, wherever it stands. */

import { isArray, isObject, type LosslessJson } from '../../json/lossless-json.ts';
import type { TypedInput } from './dialects/dialect.ts';

/** Members that no model reads as text. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...['role', 'type', 'id', 'tool_call_id', 'call_id', 'tool_use_id', 'status', 'media_type', 'cache_control'],
  ...['signature', 'encrypted_content', 'url', 'file_id', 'data', 'file_data', 'image_url', 'detail'],
]);

export function guardedText({ value }: TypedInput): string {
  const texts: string[] = [];
  collect(value, texts);
  return texts.join('\n');
}

/** The depth is bounded by that of bodies. */
function collect(value: LosslessJson, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (isArray(value)) for (const item of value) collect(item, texts);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) if (!SKIPPED.has(name)) collect(member, texts);
  }
}
