/** Reads answers of OpenAI's Responses. */

import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../../json/lossless-json.ts';
import type { Answer, CallKey } from './answer.ts';
import { readOpenAiError } from './chat-answer.ts';
import { readAudio, readTokens } from './token-counts.ts';

/** A response is one message. */
const ONLY = 0;

export function readResponsesEvent(event: LosslessObject, answer: Answer): void {
  const type = readMember(event, 'type');
  const response = readMember(event, 'response');
  switch (type) {
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      // The deltas before it were read already.
      if (isObject(response)) readResponse(response, answer, answer.hasOutput() ? 'facts' : 'output');
      if (type === 'response.failed' && !isObject(response)) answer.setError(null, null);
      answer.complete();
      return;
    case 'response.created':
    case 'response.in_progress':
      if (isObject(response)) readResponse(response, answer, 'facts');
      return;
    case 'response.output_item.added':
      readNewItem(event, answer);
      return;
    case 'response.output_item.done':
      readDoneItem(event, answer);
      return;
    case 'error':
      answer.setError(readMember(event, 'code'), readMember(event, 'message'));
      readOpenAiError(event, answer);
      return;
    default:
      readDelta(type, event, answer);
  }
}

/** A whole answer. */
export function readResponses(body: LosslessObject, answer: Answer): void {
  readResponse(body, answer, 'output');
}

/** A response repeats the members of its request, instructions and tools among them: they are no part of the answer. */
export function outputOfResponse(response: LosslessObject): LosslessObject {
  return Object.fromEntries(Object.entries(response).filter(([name]) => OUTPUT_NAMES.has(name)));
}

const OUTPUT_NAMES: ReadonlySet<string> = new Set(['output', 'output_text', 'error']);

export function outputOfEvent(event: LosslessObject): LosslessObject {
  const response = readMember(event, 'response');
  return isObject(response) ? { ...event, response: outputOfResponse(response) } : event;
}

function readResponse(response: LosslessObject, answer: Answer, reads: 'facts' | 'output'): void {
  answer.setModel(readMember(response, 'model'));
  answer.setServiceTier(readMember(response, 'service_tier'));
  readOpenAiError(response, answer);
  readUsage(readMember(response, 'usage'), answer);
  const output = readMember(response, 'output');
  if (reads === 'facts' || !isArray(output)) return;
  for (const [index, item] of output.entries()) if (isObject(item)) readItem(item, index, answer);
}

function readDelta(type: LosslessJson, event: LosslessObject, answer: Answer): void {
  const delta = readMember(event, 'delta');
  switch (type) {
    case 'response.output_text.delta':
    case 'response.audio.transcript.delta':
      answer.addText('content', ONLY, delta);
      break;
    case 'response.refusal.delta':
      answer.addText('refusal', ONLY, delta);
      break;
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
      answer.addText('reasoning', ONLY, delta);
      break;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
    case 'response.mcp_call_arguments.delta':
    case 'response.code_interpreter_call_code.delta':
      answer.addCall(ONLY, keyOf(event), { input: delta });
      break;
    default:
  }
}

/** The items of a response are told apart by their place in it. */
function keyOf(event: LosslessObject): CallKey {
  const index = readMember(event, 'output_index');
  return typeof index === 'number' ? index : ONLY;
}

/** Calls of tools of the caller and of the provider, and requests to approve one. */
const CALL = /_call$|^mcp_approval_request$/;

function isCall(item: LosslessObject): boolean {
  const type = readMember(item, 'type');
  return typeof type === 'string' && CALL.test(type);
}

function namesOf(item: LosslessObject) {
  return {
    id: readMember(item, 'call_id') ?? readMember(item, 'id'),
    name: readMember(item, 'name') ?? readMember(item, 'type'),
  };
}

/** Names a call whose input may follow. */
function readNewItem(event: LosslessObject, answer: Answer): void {
  const item = readMember(event, 'item');
  if (isObject(item) && isCall(item)) answer.addCall(ONLY, keyOf(event), namesOf(item));
}

/** Some calls have no deltas: their input comes at once. */
function readDoneItem(event: LosslessObject, answer: Answer): void {
  const item = readMember(event, 'item');
  if (isObject(item) && isCall(item)) answer.addCall(ONLY, keyOf(event), { input: actionOf(item) });
}

/** What a call is to do when it is not a text. */
function actionOf(item: LosslessObject): LosslessJson {
  return readMember(item, 'action') ?? readMember(item, 'operation') ?? readMember(item, 'queries');
}

function readItem(item: LosslessObject, index: number, answer: Answer): void {
  if (isCall(item)) {
    const text = readMember(item, 'arguments') ?? readMember(item, 'input') ?? readMember(item, 'code');
    answer.addCall(ONLY, index, { ...namesOf(item), input: text ?? actionOf(item) });
    return;
  }
  const type = readMember(item, 'type');
  if (type !== 'message' && type !== 'reasoning') return;
  for (const part of [...partsOf(item, 'summary'), ...partsOf(item, 'content')]) {
    answer.addText(type === 'message' ? 'content' : 'reasoning', ONLY, readMember(part, 'text'));
    answer.addText('refusal', ONLY, readMember(part, 'refusal'));
  }
}

function partsOf(item: LosslessObject, name: string): readonly LosslessObject[] {
  const parts = readMember(item, name);
  return isArray(parts) ? parts.filter(isObject) : [];
}

function readUsage(usage: LosslessJson, answer: Answer): void {
  if (!isObject(usage)) return;
  const inputTokens = readTokens(usage, 'input_tokens');
  const outputTokens = readTokens(usage, 'output_tokens');
  if (inputTokens === null && outputTokens === null) return;
  const told = {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadInputTokens: readTokens(usage, 'input_tokens_details', 'cached_tokens') ?? 0,
    cacheCreationInputTokens: readTokens(usage, 'input_tokens_details', 'cache_write_tokens') ?? 0,
    reasoningTokens: readTokens(usage, 'output_tokens_details', 'reasoning_tokens') ?? 0,
  };
  answer.setUsage(told, readAudio(usage, 'input_tokens_details', 'output_tokens_details'));
}
