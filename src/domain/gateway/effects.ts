/** Which requests and answers have effects beyond the answer itself, so that an answer may not be repeated. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../json/lossless-json.ts';
import { ANSWER_DEPTH_MAX } from './cached-stream.ts';
import { dialectOf, type RouteKind } from './dialects/dialect.ts';
import { isOwnTool, isSent } from './dialects/request-size.ts';

/** Members that refer to what the provider holds and may change, or that make it act. */
const STATEFUL: readonly string[] = [
  'conversation',
  'previous_response_id',
  'prompt',
  'container',
  'mcp_servers',
  'web_search_options',
];

/** Whether a request reads or changes what the provider holds, or lets it run tools. */
export function hasEffects(route: RouteKind, body: LosslessObject): boolean {
  if (STATEFUL.some((name) => isSent(readMember(body, name)))) return true;
  const tools = readMember(body, 'tools');
  if (!isArray(tools)) return tools !== null;
  return !tools.every((tool) => isOwnTool(tool, dialectOf(route)));
}

/** What answers consist of that call no tool. */
const PLAIN_ITEMS: ReadonlySet<LosslessJson> = new Set(['message', 'reasoning']);
const PLAIN_BLOCKS: ReadonlySet<LosslessJson> = new Set(['text', 'thinking', 'redacted_thinking']);

/** Whether an answer that does not stream calls no tool. One that cannot be read may call any. */
export function callsNoTool(route: RouteKind, answer: Buffer): boolean {
  if (route === 'embeddings') return true;
  const parsed = parseLossless(answer.toString(), { depth: ANSWER_DEPTH_MAX });
  if (parsed.kind !== 'value' || !isObject(parsed.value)) return false;
  if (route === 'chat') return consistsOf(readMember(parsed.value, 'choices'), isPlainChoice);
  if (route === 'responses') return consistsOf(readMember(parsed.value, 'output'), isOfType(PLAIN_ITEMS));
  return consistsOf(readMember(parsed.value, 'content'), isOfType(PLAIN_BLOCKS));
}

function consistsOf(list: LosslessJson, isPlain: (part: LosslessObject) => boolean): boolean {
  return isArray(list) && list.every((part) => isObject(part) && isPlain(part));
}

function isPlainChoice(choice: LosslessObject): boolean {
  const message = readMember(choice, 'message');
  return (
    isObject(message) && !isSent(readMember(message, 'tool_calls')) && readMember(message, 'function_call') === null
  );
}

function isOfType(types: ReadonlySet<LosslessJson>): (part: LosslessObject) => boolean {
  return (part) => types.has(readMember(part, 'type'));
}
