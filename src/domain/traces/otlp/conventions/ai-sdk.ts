/** The telemetry of Vercel's `ai` package. */

import { isArray, isObject } from '../../../../json/free-json.ts';
import type { LosslessJson } from '../../../../json/lossless-json.ts';
import { isBlank } from '../../collector/collector-json.ts';
import { toToolCall } from '../messages.ts';
import type { OtlpSpan } from '../span.ts';
import type { SpanView } from '../span-view.ts';

/** The span of a tool is named after the tool. */
export function nameOf({ name, attributes }: OtlpSpan): string | undefined {
  const tool = name === 'ai.toolCall' ? attributes.get('ai.toolCall.name') : undefined;
  if (typeof tool === 'string' && !isBlank(tool)) return tool;
  return name === '' ? undefined : name;
}

/** The text of an answer, as the content of a message if the answer has calls of tools beside it. */
export function aiAnswer(view: SpanView): LosslessJson | undefined {
  const text = view.span.attributes.get('ai.response.text');
  return isBlank(text) ? text : (callingMessage(view, text) ?? text);
}

/** An answer of nothing but calls of tools. */
export function aiToolCalls(view: SpanView): LosslessJson | undefined {
  return callingMessage(view, null) ?? view.span.attributes.get('ai.response.toolCalls');
}

function callingMessage({ span, json }: SpanView, content: LosslessJson): LosslessJson | undefined {
  const calls = json.parsed(span.attributes.get('ai.response.toolCalls'));
  if (!isArray(calls) || calls.length === 0 || !calls.every(isObject) || !json.fitsMessages(calls)) return undefined;
  return { role: 'assistant', content, tool_calls: calls.map(toToolCall) };
}
