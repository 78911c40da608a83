/** Reads free-form JSON text of a bounded shape. */

import type { Steps } from '../domain/steps.ts';
import { createKeepSpelling, isPlainJson } from './exact-json.ts';
import { makeWellFormed } from './free-json.ts';
import { LARGE_CHARACTERS } from './free-json-steps.ts';
import { parseInChunks } from './json-chunks.ts';
import { parseWithNumbers, type ToNumber } from './json-parser.ts';
import type { LosslessJson } from './lossless-json.ts';

export type LosslessParsed =
  | { readonly kind: 'value'; readonly value: LosslessJson }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'too_deep' }
  | { readonly kind: 'too_wide' };

type ShapeMax = {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Of one object; no limit by default. */
  readonly members?: number;
};

/** Reads JSON text of a bounded shape. Unpaired surrogates become U+FFFD; `text` itself has none. */
export function parseLossless(text: string, max: ShapeMax): LosslessParsed {
  return parseBounded(text, max, () => mendSurrogates(text, parseSpelled(text, createKeepSpelling())));
}

/** As parseLossless, with pauses in large texts. */
export function* parseLosslessInSteps(text: string, max: ShapeMax): Steps<LosslessParsed> {
  // Chunks are bytes, whose reader would skip a byte-order mark.
  if (!needsSteps(text) || text.startsWith(BYTE_ORDER_MARK)) return parseLossless(text, max);
  const excess = findExcess(text, max);
  if (excess !== null) return { kind: excess };
  yield;
  const toNumber = createKeepSpelling();
  const parse = (chunk: Buffer) => parseSpelled(chunk.toString(), toNumber);
  try {
    const value = yield* parseInChunks(Buffer.from(text), { wideObjects: [], parse });
    yield;
    return { kind: 'value', value: mendSurrogates(text, value as LosslessJson) };
  } catch (error) {
    return refuseSyntax(error);
  }
}

const BYTE_ORDER_MARK = '\ufeff';

/** Whether the text fills a turn of the event loop: JSON.parse is fast enough for the plain JSON of one request. */
export function needsSteps(text: string): boolean {
  return text.length > LARGE_CHARACTERS && !isPlainJson(text);
}

function parseSpelled(text: string, toNumber: ToNumber): LosslessJson {
  return (isPlainJson(text) ? JSON.parse(text) : parseWithNumbers(text, toNumber)) as LosslessJson;
}

function mendSurrogates(text: string, value: LosslessJson): LosslessJson {
  return ESCAPED_SURROGATE.test(text) ? makeWellFormed(value) : value;
}

/** Why a text is not JSON of a bounded shape; null when it is. Costs less than parseLossless. */
export function findJsonProblem(text: string, max: ShapeMax): Exclude<LosslessParsed['kind'], 'value'> | null {
  const { kind } = parseBounded(text, max, () => JSON.parse(text));
  return kind === 'value' ? null : kind;
}

/** Checks the shape first: parsers recurse, and too many levels would overflow the stack. */
function parseBounded(text: string, max: ShapeMax, parse: () => LosslessJson): LosslessParsed {
  const excess = findExcess(text, max);
  if (excess !== null) return { kind: excess };
  try {
    return { kind: 'value', value: parse() };
  } catch (error) {
    return refuseSyntax(error);
  }
}

function refuseSyntax(error: unknown): { readonly kind: 'not_json' } {
  if (error instanceof SyntaxError) return { kind: 'not_json' };
  throw error;
}

/** The parser replaces unpaired surrogates in strings, but not in the names of members. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

function findExcess(text: string, { depth: levels, members: membersMax = Number.POSITIVE_INFINITY }: ShapeMax) {
  /** Per open level, the innermost last. */
  const members = [0];
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COLON) {
      const count = (members.at(-1) ?? 0) + 1;
      if (count > membersMax) return 'too_wide';
      members[members.length - 1] = count;
    } else if (CLOSING.has(code)) members.pop();
    else if (OPENING.has(code) && members.push(0) > levels + 1) return 'too_deep';
  }
  return null;
}
