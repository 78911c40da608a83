/** Runs a tool: asks its route as the caller, and makes the answer fit. */

import { Fault, type JsonValue } from '../../domain/fault.ts';
import type { RunCooperatively, Steps } from '../../domain/steps.ts';
import type { JsonObject } from '../rest/json-object.ts';
import { ANSWER_MAX_BYTES, bytesWithin, textWithin } from './fitting.ts';
import type { ToolRequest } from './tool-parts.ts';
import type { Tool } from './tools.ts';

export type ToolDeps = {
  /** Resolves with the answer of a route, null where it is longer than `maxBytes` or has too many parts; rejects with its Fault. */
  readonly ask: (request: ToolRequest, maxBytes: number) => Promise<JsonObject | null>;
  readonly runCooperatively: RunCooperatively;
};

const TEXT_MAX = 2_000;
const TEXT_STEPS = [500, 120, 40];
/** Pages do not become shorter than this before texts do. */
const PAGE_SOFT_MIN = 5;
const ROOM = 0.8;
/** Answers with more items than one are not read when they are longer: a fraction of them is shown. */
const READ_MAX_BYTES = 1_048_576;
/** A span may be as large as a request. */
const ITEM_MAX_BYTES = 67_108_864;
const SHORTER_BY = 8;
/** How far a page that is too long is counted to tell how much shorter the next one must be. */
const COUNTED_MAX_BYTES = 4 * ANSWER_MAX_BYTES;

/** Resolves with the text of the answer. Rejects with a Fault that the caller can act on. */
export async function callTool(tool: Tool, args: JsonObject, { ask, runCooperatively }: ToolDeps): Promise<string> {
  checkArguments(tool, args);
  let limit = limitOf(tool, args);
  for (;;) {
    const answer = await ask(tool.request(args, limit), limit > 1 ? READ_MAX_BYTES : ITEM_MAX_BYTES);
    if (answer === null) {
      if (limit <= 1) throw tooLong();
      limit = Math.ceil(limit / SHORTER_BY);
      continue;
    }
    const shape = tool.shape?.(answer, args, limit) ?? answer;
    const shaped = isSteps(shape) ? await runCooperatively(shape) : shape;
    const text = textWithin(shaped, null) ?? textWithin(shaped, TEXT_MAX);
    if (text !== null) return text;
    const shorter = tool.page === null ? limit : shorterPage(limit, shaped);
    if (shorter < limit && limit > PAGE_SOFT_MIN) {
      limit = Math.max(PAGE_SOFT_MIN, shorter);
      continue;
    }
    for (const textMax of TEXT_STEPS) {
      const cut = textWithin(shaped, textMax);
      if (cut !== null) return cut;
    }
    if (tool.page === null || limit === 1) throw tooLong();
    limit = 1;
  }
}

function isSteps(shape: JsonObject | Steps<JsonObject>): shape is Steps<JsonObject> {
  return Symbol.iterator in shape;
}

function shorterPage(limit: number, shaped: JsonObject): number {
  const bytes = bytesWithin(shaped, COUNTED_MAX_BYTES);
  return Math.max(1, Math.min(limit - 1, Math.floor((limit * ROOM * ANSWER_MAX_BYTES) / bytes)));
}

function limitOf({ page }: Tool, { limit }: JsonObject): number {
  if (page === null) return 0;
  if (limit === undefined || limit === null) return page.size;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= page.max) return limit;
  throw new Fault('validation_error', `limit must be a whole number from 1 to ${page.max}.`);
}

function checkArguments({ properties, required }: Tool, args: JsonObject): void {
  const names = Object.keys(properties);
  const unknown = Object.keys(args).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new Fault('validation_error', `The tool takes no ${unknown[0]}; it takes ${names.join(', ')}.`);
  }
  const missing = required.filter((name) => args[name] === undefined || args[name] === null);
  if (missing.length > 0) throw new Fault('validation_error', `The tool needs ${missing.join(', ')}.`);
}

function tooLong(): Fault {
  return new Fault(
    'validation_error',
    'The answer is too long; ask for less: a shorter range, a longer interval, fewer metrics or one field.',
  );
}

/** The values of a query string; lists and objects are not values there. */
export function queryOf(members: JsonObject): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (value === null) continue;
    query.set(name, typeof value === 'object' ? JSON.stringify(value satisfies JsonValue) : String(value));
  }
  return query;
}
