/** Runs a tool: asks its route as the caller, and makes the answer fit. */

import { Fault, type JsonValue } from '../../domain/fault.ts';
import type { JsonObject } from '../rest/json-object.ts';
import { ANSWER_MAX_BYTES, textWithin } from './fitting.ts';
import type { ToolRequest } from './tool-parts.ts';
import type { Tool } from './tools.ts';

/** Resolves with the answer of a route; rejects with its Fault. */
export type Ask = (request: ToolRequest) => Promise<JsonObject>;

const TEXT_MAX = 2_000;
const TEXT_STEPS = [500, 120, 40];
/** Pages do not become shorter than this before texts do. */
const PAGE_SOFT_MIN = 5;
const ROOM = 0.8;

/** Resolves with the text of the answer. Rejects with a Fault that the caller can act on. */
export async function callTool(tool: Tool, args: JsonObject, ask: Ask): Promise<string> {
  checkArguments(tool, args);
  let limit = limitOf(tool, args);
  for (;;) {
    const answer = await ask(tool.request(args, limit));
    const shaped = tool.shape?.(answer, args, limit) ?? answer;
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

function shorterPage(limit: number, shaped: JsonObject): number {
  const bytes = Buffer.byteLength(JSON.stringify(shaped));
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

/** The values of a query string; lists and objects are no values there. */
export function queryOf(members: JsonObject): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (value === null) continue;
    query.set(name, typeof value === 'object' ? JSON.stringify(value satisfies JsonValue) : String(value));
  }
  return query;
}
