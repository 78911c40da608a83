/** Reads answers of Anthropic's Messages. */

import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../../json/lossless-json.ts';
import type { Answer } from './answer.ts';
import { NO_PARTS } from './dialect.ts';
import { readTokens } from './token-counts.ts';

/** An answer is one message. */
const ONLY = 0;

export function readMessagesEvent(event: LosslessObject, answer: Answer): void {
  const index = readMember(event, 'index');
  const block = typeof index === 'number' ? index : 0;
  switch (readMember(event, 'type')) {
    case 'message_start':
      readMessages(objectIn(event, 'message'), answer);
      break;
    case 'content_block_start':
      readNewBlock(objectIn(event, 'content_block'), block, answer);
      break;
    case 'content_block_delta':
      readDelta(objectIn(event, 'delta'), block, answer);
      break;
    case 'message_delta':
      readUsage(readMember(event, 'usage'), answer);
      break;
    case 'message_stop':
      answer.complete();
      break;
    case 'error':
      readError(event, answer);
      break;
    default:
  }
}

/** A whole answer, or the message at the start of a stream. */
export function readMessages(message: LosslessObject, answer: Answer): void {
  answer.setModel(readMember(message, 'model'));
  readError(message, answer);
  readUsage(readMember(message, 'usage'), answer);
  const content = readMember(message, 'content');
  if (!isArray(content)) return;
  for (const [index, block] of content.entries()) if (isObject(block)) readBlock(block, index, answer);
}

function readBlock(block: LosslessObject, index: number, answer: Answer): void {
  answer.addText('content', ONLY, readMember(block, 'type') === 'text' ? readMember(block, 'text') : null);
  answer.addText('reasoning', ONLY, readMember(block, 'thinking'));
  if (isCall(block)) answer.addCall(ONLY, index, { ...namesOf(block), input: readMember(block, 'input') });
}

/** The input of a call follows in deltas; the block has an empty one until then. */
function readNewBlock(block: LosslessObject, index: number, answer: Answer): void {
  if (isCall(block)) answer.addCall(ONLY, index, namesOf(block));
  else readBlock(block, index, answer);
}

function readDelta(delta: LosslessObject, index: number, answer: Answer): void {
  switch (readMember(delta, 'type')) {
    case 'text_delta':
      answer.addText('content', ONLY, readMember(delta, 'text'));
      break;
    case 'thinking_delta':
      answer.addText('reasoning', ONLY, readMember(delta, 'thinking'));
      break;
    case 'input_json_delta':
      answer.addCall(ONLY, index, { input: readMember(delta, 'partial_json') });
      break;
    default:
  }
}

const CALLS: ReadonlySet<LosslessJson> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

function isCall(block: LosslessObject): boolean {
  return CALLS.has(readMember(block, 'type'));
}

function namesOf(block: LosslessObject) {
  return { id: readMember(block, 'id'), name: readMember(block, 'name') };
}

/** The last count of each kind is the count: those of a stream are cumulative. */
function readUsage(usage: LosslessJson, answer: Answer): void {
  if (!isObject(usage)) return;
  answer.setServiceTier(readMember(usage, 'service_tier'));
  const [known, knownParts] = [answer.usage(), answer.parts()];
  const inputTokens = readTokens(usage, 'input_tokens') ?? known?.inputTokens;
  const outputTokens = readTokens(usage, 'output_tokens') ?? known?.outputTokens;
  if (inputTokens === undefined && outputTokens === undefined) return;
  const cacheRead = readTokens(usage, 'cache_read_input_tokens') ?? known?.cacheReadInputTokens;
  const cacheWrite5mTokens = readTokens(usage, 'cache_creation', FIVE_MINUTES) ?? knownParts.cacheWrite5mTokens;
  const cacheWrite1hTokens = readTokens(usage, 'cache_creation', AN_HOUR) ?? knownParts.cacheWrite1hTokens;
  const cacheCreation =
    readTokens(usage, 'cache_creation_input_tokens') ??
    Math.max(known?.cacheCreationInputTokens ?? 0, cacheWrite5mTokens + cacheWrite1hTokens);
  const reasoning = readTokens(usage, 'output_tokens_details', 'thinking_tokens') ?? known?.reasoningTokens;
  const told = {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadInputTokens: cacheRead ?? 0,
    cacheCreationInputTokens: cacheCreation,
    reasoningTokens: reasoning ?? 0,
  };
  answer.setUsage(told, { ...NO_PARTS, cacheWrite5mTokens, cacheWrite1hTokens });
}

/** Counts of `cache_creation`. */
const FIVE_MINUTES = 'ephemeral_5m_input_tokens';
const AN_HOUR = 'ephemeral_1h_input_tokens';

function readError(body: LosslessObject, answer: Answer): void {
  const error = readMember(body, 'error');
  if (isObject(error)) answer.setError(readMember(error, 'type'), readMember(error, 'message'));
}

function objectIn(event: LosslessObject, name: string): LosslessObject {
  const value = readMember(event, name);
  return isObject(value) ? value : {};
}
