/**
 * Tokens that were typed where something else belongs. Every text that is kept for people to read (the audit log, log
 * lines, errors) passes here, so that a slip of the hand does not publish a credential.
 */

import type { JsonValue } from './fault.ts';

/** Stands for the secret part. Request ids may hold these characters too. */
export const MASK = '...';

// Any prefix an installation may accept, so that a token of another one, or of an earlier setting, is masked as well.
const API_KEY = /(?:(?<![0-9A-Za-z\\])[a-z0-9][a-z0-9-]{0,14}-)?([0-9A-Za-z]{16})_[0-9A-Za-z]{48,}/g;
const LONG_RUN = /[0-9A-Za-z]{32,}/g;
/** Keys of many vendors begin like this; such a one may have been imported as a project key. */
const VENDOR_KEY =
  /(?:(?<![0-9A-Za-z])|(?<=\\(?:[bfnrt]|u[0-9a-f]{4})))([sp]k-(?:[a-z]{1,8}-){0,3})[0-9A-Za-z_.~+=-]{18,}/g;
/** Most texts hold nothing that could be a token, which one look tells. */
const SUSPICIOUS = /[0-9A-Za-z]{32}|[sp]k-|%/;

const SECRET_CHARACTERS = 48;
/** Behind the backslash. */
const UNICODE_ESCAPE_CHARACTERS = 5;

/**
 * The text with what looks like a token replaced: an API key by its id, of anything else only what stands before the
 * secret stays. Text of JSON stays JSON, for escapes stay whole. Idempotent. Takes time linear in the length.
 */
export function maskTokens(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const unescaped = text.includes('%') ? unescapeTokenCharacters(text) : text;
  const masked = maskPlain(unescaped);
  // Where nothing was hidden, escapes stay as they were written.
  return masked === unescaped ? maskPlain(text) : masked;
}

// What is cut off before masking could only have been shown if masking shortens what stands before it by more.
const MARGIN_CHARACTERS = 1_024;

/** The first characters of the masked text, however long it is. Half a token would no longer look like one. */
export function maskedHead(text: string, charactersMax: number): string {
  const head = maskTokens(text.slice(0, 2 * charactersMax + MARGIN_CHARACTERS));
  return head.length <= charactersMax ? head : [...head].slice(0, charactersMax).join('');
}

/** Masks every text inside; names of members are ours. */
export function maskInside(value: JsonValue): JsonValue {
  if (typeof value === 'string') return maskTokens(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(maskInside) : maskMembers(value);
}

export function maskMembers(members: { readonly [name: string]: JsonValue }): { [name: string]: JsonValue } {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, maskInside(value)]));
}

function maskPlain(text: string): string {
  return text
    .replace(API_KEY, '$1')
    .replace(LONG_RUN, (run, offset: number, whole: string) => {
      const before = whole[offset - 1];
      const isProjectKey = run.length === SECRET_CHARACTERS && before === '-';
      if (!isProjectKey && !looksRandom(run)) return run;
      return before === '\\' ? run.slice(0, run.startsWith('u') ? UNICODE_ESCAPE_CHARACTERS : 1) + MASK : MASK;
    })
    .replace(VENDOR_KEY, `$1${MASK}`);
}

/** Hashes and trace ids are as long, but in one case; shorter names of mixed case hold no digits. */
function looksRandom(run: string): boolean {
  const isMixed = /[A-Z]/.test(run) && /[a-z]/.test(run);
  return isMixed && (run.length >= SECRET_CHARACTERS || /[0-9]/.test(run));
}

const ROUNDS_MAX = 4;

/** Undoes escapes of letters, digits, hyphens and underscores, those of their escapes too; all others stay. */
function unescapeTokenCharacters(text: string): string {
  let read = text;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = read.replace(/%(?:25)*(2d|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/gi, (escaped, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16));
      return /[0-9A-Za-z_-]/.test(character) ? character : escaped;
    });
    if (next === read) break;
    read = next;
  }
  return read;
}
