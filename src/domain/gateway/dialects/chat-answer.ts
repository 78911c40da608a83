/** Reads answers of OpenAI's chat completions and embeddings. */

import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../../json/lossless-json.ts';
import type { Answer } from './answer.ts';
import { readAudio, readTokens } from './token-counts.ts';

/** A chunk of a stream, or a whole answer: they differ only in the name of what a choice holds. */
export function readChat(body: LosslessObject, answer: Answer): void {
  answer.setModel(readMember(body, 'model'));
  answer.setServiceTier(readMember(body, 'service_tier'));
  readOpenAiError(body, answer);
  readChatUsage(readMember(body, 'usage'), answer);
  const choices = readMember(body, 'choices');
  if (!isArray(choices)) return;
  for (const [position, choice] of choices.entries()) {
    if (!isObject(choice)) continue;
    const index = indexOf(choice, position);
    const messages = ['delta', 'message'].map((name) => readMember(choice, name)).filter(isObject);
    for (const message of messages) readMessage(message, index, answer);
    // The text of the older completions, which some servers send here, and some beside the same content.
    if (!messages.some(hasContent)) answer.addText('content', index, readMember(choice, 'text'));
  }
}

function hasContent(message: LosslessObject): boolean {
  const content = readMember(message, 'content');
  return content !== undefined && content !== null && content !== '';
}

/** Whether a chunk was sent only to tell the usage. */
export function isUsageOnly(chunk: LosslessObject): boolean {
  const choices = readMember(chunk, 'choices');
  return isArray(choices) && choices.length === 0 && isObject(readMember(chunk, 'usage'));
}

function readMessage(message: LosslessObject, choice: number, answer: Answer): void {
  // Providers of open models call the reasoning by either name; some send it by both.
  const reasoning = readMember(message, 'reasoning_content') ?? readMember(message, 'reasoning');
  answer.addText('reasoning', choice, reasoning);
  readContent(readMember(message, 'content'), choice, answer);
  answer.addText('refusal', choice, readMember(message, 'refusal'));
  const audio = readMember(message, 'audio');
  if (isObject(audio)) answer.addText('content', choice, readMember(audio, 'transcript'));
  const called = readMember(message, 'function_call');
  if (isObject(called)) readCall(called, { choice, key: 'function_call', id: null }, answer);
  const calls = readMember(message, 'tool_calls');
  if (!isArray(calls)) return;
  for (const [position, call] of calls.entries()) {
    if (!isObject(call)) continue;
    const key = indexOf(call, position);
    const custom = readMember(call, 'custom');
    const details = isObject(custom) ? custom : readMember(call, 'function');
    if (isObject(details)) readCall(details, { choice, key, id: readMember(call, 'id') }, answer);
  }
}

/** A text, or its parts: Mistral sends thoughts among them. */
function readContent(content: LosslessJson, choice: number, answer: Answer): void {
  answer.addText('content', choice, content);
  for (const part of partsOf(content)) {
    answer.addText('content', choice, readMember(part, 'text'));
    for (const thought of partsOf(readMember(part, 'thinking'))) {
      answer.addText('reasoning', choice, readMember(thought, 'text'));
    }
  }
}

function partsOf(content: LosslessJson): readonly LosslessObject[] {
  return isArray(content) ? content.filter(isObject) : [];
}

type CallPlace = { readonly choice: number; readonly key: string | number; readonly id: LosslessJson };

function readCall(details: LosslessObject, { choice, key, id }: CallPlace, answer: Answer): void {
  const input = readMember(details, 'arguments') ?? readMember(details, 'input');
  answer.addCall(choice, key, { id, name: readMember(details, 'name'), input });
}

function indexOf(item: LosslessObject, position: number): number {
  const index = readMember(item, 'index');
  return typeof index === 'number' ? index : position;
}

function readChatUsage(usage: LosslessJson, answer: Answer): void {
  if (!isObject(usage)) return;
  const inputTokens = readTokens(usage, 'prompt_tokens');
  const outputTokens = readTokens(usage, 'completion_tokens');
  if (inputTokens === null && outputTokens === null) return;
  const sum = (inputTokens ?? 0) + (outputTokens ?? 0);
  const reasoningTokens = readTokens(usage, 'completion_tokens_details', 'reasoning_tokens') ?? 0;
  // xAI tells the reasoning beside the completion, and only the total has both.
  const isBeside = readTokens(usage, 'total_tokens') === sum + reasoningTokens;
  const told = {
    inputTokens: inputTokens ?? 0,
    outputTokens: (outputTokens ?? 0) + (isBeside ? reasoningTokens : 0),
    cacheReadInputTokens: readTokens(usage, 'prompt_tokens_details', 'cached_tokens') ?? 0,
    cacheCreationInputTokens: readTokens(usage, 'prompt_tokens_details', 'cache_write_tokens') ?? 0,
    reasoningTokens,
  };
  answer.setUsage(told, readAudio(usage, 'prompt_tokens_details', 'completion_tokens_details'));
}

/** Of a body whose `error` is one. */
export function readOpenAiError(body: LosslessObject, answer: Answer): void {
  const error = readMember(body, 'error');
  if (typeof error === 'string') answer.setError(null, error);
  if (!isObject(error)) return;
  answer.setError(readMember(error, 'type') ?? readMember(error, 'code'), readMember(error, 'message'));
}

const FLOAT_BYTES = 4;

/** Keeps how many vectors came and how long they are, and never a vector. */
export function readEmbeddings(body: LosslessObject, answer: Answer): void {
  answer.setModel(readMember(body, 'model'));
  readOpenAiError(body, answer);
  readChatUsage(readMember(body, 'usage'), answer);
  const data = readMember(body, 'data');
  if (!isArray(data) || data.length === 0) return;
  const [first = null] = data;
  const vector = isObject(first) ? readMember(first, 'embedding') : null;
  answer.setValue({ embeddings: data.length, dimensions: dimensionsOf(vector) });
}

/** A vector is a list of numbers, or base64 of 4-byte numbers. */
function dimensionsOf(vector: LosslessJson): number | null {
  if (isArray(vector)) return vector.length;
  return typeof vector === 'string' ? Math.floor(Buffer.byteLength(vector, 'base64') / FLOAT_BYTES) : null;
}
