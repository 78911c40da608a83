/** Text forms of inputs and outputs. */

import { isArray, isObject } from '../../../json/free-json.ts';
import { parseFreeJsonInSteps } from '../../../json/free-json-steps.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import type { Steps } from '../../steps.ts';
import { callsOf, messageText } from '../chat-parts.ts';

/** The text form of an input; the argument is compact JSON text of {"type","value"}. */
export function* inputText(typedValueJson: string): Steps<string> {
  return textOf(yield* parseFreeJsonInSteps(typedValueJson), INPUT);
}

/** The text form of an output; the argument is compact JSON text of {"type","value"}. */
export function* outputText(typedValueJson: string): Steps<string> {
  return textOf(yield* parseFreeJsonInSteps(typedValueJson), OUTPUT);
}

type Side = {
  readonly textKeys: readonly string[];
  readonly chatText: (messages: readonly LosslessJson[]) => string;
};

const INPUT: Side = {
  textKeys: ['input', 'question', 'query', 'message', 'text', 'content', 'prompt'],
  chatText: lastUserText,
};
const OUTPUT: Side = {
  textKeys: ['output', 'answer', 'response', 'result', 'message', 'text', 'content'],
  chatText: lastReplyText,
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
    for (const key of side.textKeys) {
      const text = value[key];
      if (typeof text === 'string') return text;
    }
  }
  return JSON.stringify(value);
}

function lastUserText(messages: readonly LosslessJson[]): string {
  const message = messages.findLast((message) => isObject(message) && message.role === 'user') ?? messages.at(-1);
  return isObject(message) ? messageText(message) : '';
}

function lastReplyText(messages: readonly LosslessJson[]): string {
  const answer = messages.at(-1);
  if (!isObject(answer)) return '';
  const text = messageText(answer);
  if (text !== '') return text;
  const calls = callsOf(answer);
  return calls.length === 0 ? '' : JSON.stringify(calls);
}
