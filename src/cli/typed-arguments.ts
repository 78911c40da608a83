/** Validates typed arguments. A token typed in place of an id is sent nowhere: neither in a path nor in a body. */

import { maskTokens } from '../domain/token-mask.ts';

/** A key named by its id; `note` warns where its whole token was typed. */
export type TypedKeyId = { readonly id: string; readonly note: string | null };

const KEY_ID = /^[0-9A-Za-z]{16}$/;
const API_KEY = /^[a-z0-9][a-z0-9-]{0,14}-([0-9A-Za-z]{16})_[0-9A-Za-z]{48}$/;

/** Throws unless it is the id of an API key, or a token that holds one. */
export function readKeyId(typed: string): TypedKeyId {
  if (KEY_ID.test(typed)) return { id: typed, note: null };
  const id = API_KEY.exec(typed)?.[1];
  if (id === undefined) throw new Error('a key is named by its id, 16 letters and digits, not by its token');
  const note = `a whole token was given; only the id in it, ${id}, is used and sent. Your shell may remember the token`;
  return { id, note };
}

/** Returns what was typed. Throws where it contains a token. */
export function readId(typed: string, what: string): string {
  if (maskTokens(typed) === typed) return typed;
  throw new Error(`a token was given where ${what} belongs; it was not sent, but your shell may remember it`);
}

/** The message of a parse error. It does not repeat positional arguments, which may be a token or a database URL. */
export function argumentProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') return 'takes options only';
  return error.message.split('\n')[0] ?? '';
}
