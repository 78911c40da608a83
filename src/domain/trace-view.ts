/** What a trace shows of its spans: which of them speak for it, and the text forms of what they hold. */

import { isArray, isObject, parseFreeJson } from './free-json.ts';
import type { LosslessJson, LosslessObject } from './lossless-json.ts';
import type { SpanSummary } from './trace.ts';

export { asciiTree } from './trace-tree.ts';

export type TraceChoice = {
  readonly rootId: string | null;
  readonly inputFromId: string | null;
  readonly outputFromId: string | null;
  readonly errorFromId: string | null;
  readonly name: string;
  /** Distinct, latest started first. */
  readonly models: readonly string[];
};

/** Chooses the spans that speak for the trace. Spans come by start, then id. */
export function chooseSpans(summaries: readonly SpanSummary[]): TraceChoice {
  const storedIds = new Set(summaries.map((span) => span.spanId));
  const parentless = summaries.filter((span) => span.parentId === null || !storedIds.has(span.parentId));
  const root = parentless[0] ?? summaries[0];
  const lastParentless = latestFinished(parentless);
  const input = root?.hasInput ? root : summaries.find((span) => span.hasInput && !isJudge(span));
  const output = lastParentless?.hasOutput
    ? lastParentless
    : latestFinished(summaries.filter((span) => span.hasOutput && !isJudge(span) && span.type !== 'tool'));
  const error = root?.hasError ? root : summaries.find((span) => span.hasError);
  return {
    rootId: root?.spanId ?? null,
    inputFromId: input?.spanId ?? null,
    outputFromId: output?.spanId ?? null,
    errorFromId: error?.spanId ?? null,
    name: root === undefined ? '' : (root.name ?? root.type),
    models: listModels(summaries),
  };
}

function isJudge({ type }: SpanSummary): boolean {
  return type === 'evaluation' || type === 'guardrail';
}

/** Of several that finished together, the one that started first. */
function latestFinished(summaries: readonly SpanSummary[]): SpanSummary | undefined {
  let latest = summaries[0];
  for (const span of summaries) if (latest === undefined || span.finishedAtMs > latest.finishedAtMs) latest = span;
  return latest;
}

function listModels(summaries: readonly SpanSummary[]): readonly string[] {
  const models = new Set<string>();
  for (let index = summaries.length - 1; index >= 0; index -= 1) {
    const model = summaries[index]?.model ?? null;
    if (model !== null) models.add(model);
  }
  return [...models];
}

/** The text form of what went in; the argument is compact JSON text of {"type","value"}. */
export function inputText(typedValueJson: string): string {
  return textOf(parseFreeJson(typedValueJson), INPUT);
}

/** The text form of what came out; the argument is compact JSON text of {"type","value"}. */
export function outputText(typedValueJson: string): string {
  return textOf(parseFreeJson(typedValueJson), OUTPUT);
}

type Side = {
  readonly tellingKeys: readonly string[];
  readonly chatText: (messages: readonly LosslessJson[]) => string;
};

const INPUT: Side = {
  tellingKeys: ['input', 'question', 'query', 'message', 'text', 'content', 'prompt'],
  chatText: askedText,
};
const OUTPUT: Side = {
  tellingKeys: ['output', 'answer', 'response', 'result', 'message', 'text', 'content'],
  chatText: answeredText,
};

function textOf(typed: LosslessJson, side: Side): string {
  if (!isObject(typed) || typed.value === undefined) return jsonText(typed, side);
  const { type, value } = typed;
  switch (type) {
    case 'text':
    case 'raw':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'chat_messages':
      return isArray(value) ? side.chatText(value) : JSON.stringify(value);
    case 'json':
      return jsonText(value, side);
    case 'list':
      return isArray(value) ? value.map((item) => textOf(item, side)).join('\n') : JSON.stringify(value);
    default:
      return JSON.stringify(value);
  }
}

function jsonText(value: LosslessJson, side: Side): string {
  if (typeof value === 'string') return value;
  if (isObject(value)) {
    for (const key of side.tellingKeys) {
      const told = value[key];
      if (typeof told === 'string') return told;
    }
  }
  return JSON.stringify(value);
}

function askedText(messages: readonly LosslessJson[]): string {
  const asked = messages.findLast((message) => isObject(message) && message.role === 'user') ?? messages.at(-1);
  return isObject(asked) ? messageText(asked) : '';
}

function answeredText(messages: readonly LosslessJson[]): string {
  const answer = messages.at(-1);
  if (!isObject(answer)) return '';
  const text = messageText(answer);
  const calls = answer.tool_calls;
  return text === '' && isArray(calls) && calls.length > 0 ? JSON.stringify(calls) : text;
}

function messageText({ content }: LosslessObject): string {
  if (typeof content === 'string') return content;
  return isArray(content) ? content.flatMap(partTexts).join('\n') : '';
}

function partTexts(part: LosslessJson): readonly string[] {
  if (typeof part === 'string') return [part];
  if (!isObject(part)) return [];
  if (typeof part.text === 'string') return [part.text];
  return typeof part.content === 'string' ? [part.content] : [];
}
