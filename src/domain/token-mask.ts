/**
 * Masks tokens that were typed into a wrong field. Every text kept for people to read (audit log, log lines, errors) is
 * masked, so that a mistake does not publish a credential.
 */

import { cutToCharacters } from './text-limits.ts';

/** Replaces the secret part. Request ids may contain these characters too. */
const MASK = '...';

// Any prefix that an installation may accept, so that tokens of another installation or of an earlier setting are
// masked too.
const API_KEY = /(?:(?<![0-9A-Za-z\\])[a-z0-9][a-z0-9-]{0,14}-)?([0-9A-Za-z]{16})_[0-9A-Za-z]{48,}/g;
const LONG_RUN = /[0-9A-Za-z]{32,}/g;
/** Keys of many vendors begin like this, and may have been imported as project keys. */
const VENDOR_KEY =
  /(?:(?<![0-9A-Za-z])|(?<=\\(?:[bfnrt]|u[0-9a-f]{4})))([sp]k-(?:[a-z]{1,8}-){0,3})[0-9A-Za-z_.~+=-]{18,}/g;
/** The secret part of a virtual key, after any prefix. */
const VIRTUAL_KEY = /-[0-9A-HJKMNP-TV-Z]{26}[0-9A-Za-z]*/g;
/** A cheap test: most texts contain nothing that could be a token. */
const SUSPICIOUS = /[0-9A-Za-z]{32}|[sp]k-|-[0-9A-HJKMNP-TV-Z]{26}|%/;

const SECRET_CHARACTERS = 48;
/** Characters of `\uXXXX` after the backslash. */
const UNICODE_ESCAPE_CHARACTERS = 5;

/**
 * Replaces token-like texts: an API key by its id, anything else by the part before the secret. JSON text stays valid,
 * because escapes stay whole. Idempotent. Takes time linear in the length.
 */
export function maskTokens(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const unescaped = text.includes('%') ? unescapeTokenCharacters(text) : text;
  const masked = maskPlain(unescaped);
  // Without a masked token, escapes keep their spelling.
  return masked === unescaped ? maskPlain(text) : masked;
}

// Masking shortens text, so some characters after the limit are needed, but never more than this margin.
const MARGIN_CHARACTERS = 1_024;

/** The first characters of the masked text. Masks before cutting: half a token would no longer be recognised. */
export function maskedHead(text: string, charactersMax: number): string {
  const head = maskTokens(text.slice(0, 2 * charactersMax + MARGIN_CHARACTERS));
  return cutToCharacters(head, charactersMax);
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
    .replace(VENDOR_KEY, `$1${MASK}`)
    .replace(VIRTUAL_KEY, `-${MASK}`);
}

/** Excludes hashes and trace ids, which have one case, and mixed-case names, which have no digits. */
function looksRandom(run: string): boolean {
  const isMixed = /[A-Z]/.test(run) && /[a-z]/.test(run);
  return isMixed && (run.length >= SECRET_CHARACTERS || /[0-9]/.test(run));
}

const ROUNDS_MAX = 4;

/** Decodes percent-escapes of letters, digits, hyphens and underscores, nested ones too; keeps all others. */
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
