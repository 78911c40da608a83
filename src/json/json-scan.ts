/** Scans the bytes of a JSON document once and builds nothing: a hostile document costs its bytes and no more. */

import { PARTS_MAX } from '../domain/message-parts.ts';
import type { Steps } from '../domain/steps.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LONG_DIGITS = 16;
const POINT = 0x2e;

export const JSON_DEPTH_MAX = 128;
/** Numbers of one document kept as text, like integers beyond 2^53: each is an object that is slow to make. */
export const NUMBER_TEXTS_MAX = 20_000;
/** Members of one object. A larger object is slow to build, and hardly intended. */
export const MEMBERS_MAX = 10_000;

/** Facts about a document. */
export type JsonFacts = {
  /** Deepest nesting of arrays and objects. The scan stops beyond JSON_DEPTH_MAX. */
  readonly depth: number;
  /** The digits of integers beyond 2^53. The scan stops beyond NUMBER_TEXTS_MAX. */
  readonly longIntegers: readonly ByteRange[];
  /** A number has a fraction or exponent after 16 digits, or a 3-digit exponent: it may be beyond a double. */
  readonly hasLargeFloats: boolean;
  /** A member name contains a backslash. */
  readonly hasEscapedNames: boolean;
  /** Any \u escape: only they can carry U+0000 or a lone surrogate. */
  readonly hasEscapes: boolean;
  readonly bytes: number;
  /** The outermost objects of more than MEMBERS_MAX members, in order. */
  readonly wideObjects: readonly ByteRange[];
  /** Whether there are more than PARTS_MAX arrays and objects. The scan stops there. */
  readonly hasTooManyParts: boolean;
  /** Whether any object is wide. */
  readonly hasWide: boolean;
  /** Members of the root object, also those of one name. */
  readonly rootMembers: number;
  /** Whether the root object is wide. */
  readonly isWide: boolean;
  /** Whether the scan stopped at a limit, so that the facts omit the rest. */
  readonly isPartial: boolean;
  /** Whether a wide object has no end, so that the text is not JSON. */
  readonly isCutShort: boolean;
};

/** From `start` up to, not including, `end`. */
export type ByteRange = { readonly start: number; readonly end: number };

/** The state of a scan, which continues at `index`. */
type Scan = ReturnType<typeof createScan>;

/**
 * The open levels: the byte where each object starts (-1: an array), and how many members the level around it had
 * before. A document with more levels than these is refused.
 */
type Open = { readonly starts: Int32Array; readonly membersBefore: Int32Array };

const NONE: readonly ByteRange[] = [];
/** For scans that end before the next one begins. */
const SHARED = createOpen();
/** Per step. */
const STEP_BYTES = 65_536;

export function scanJson(bytes: Uint8Array): JsonFacts {
  const pass = createScan(SHARED);
  advance(bytes, pass, bytes.length);
  return factsOf(bytes, pass);
}

/** As scanJson, in steps: for large documents. */
export function* scanInSteps(bytes: Uint8Array): Steps<JsonFacts> {
  const pass = createScan(createOpen());
  while (pass.index < bytes.length && !pass.isStopped) {
    advance(bytes, pass, pass.index + STEP_BYTES);
    yield;
  }
  return factsOf(bytes, pass);
}

function createOpen(): Open {
  return { starts: new Int32Array(JSON_DEPTH_MAX), membersBefore: new Int32Array(JSON_DEPTH_MAX) };
}

function createScan(open: Open) {
  const longIntegers: ByteRange[] = [];
  return {
    index: 0,
    depth: 0,
    deepest: 0,
    /** Of the innermost level. */
    members: 0,
    parts: 0,
    rootMembers: 0,
    hasLargeFloats: false,
    hasEscapes: false,
    hasEscapedNames: false,
    stringAt: 0,
    /** The last backslash: in the last string, if it is after `stringAt`. */
    escapedAt: -1,
    isWide: false,
    isCutShort: false,
    /** Whether it stopped at a limit. */
    isStopped: false,
    wideObjects: NONE,
    longIntegers,
    open,
  };
}

/** Scans to `until`, or to the end of the string or number there. */
function advance(bytes: Uint8Array, pass: Scan, until: number): void {
  const { longIntegers } = pass;
  const { starts, membersBefore } = pass.open;
  let { depth, deepest, members, parts, hasLargeFloats, hasEscapes, hasEscapedNames } = pass;
  let { stringAt, escapedAt } = pass;
  let isStopped = false;
  const end = bytes.length;
  const pauseAt = Math.min(until, end);
  let index = pass.index;
  for (; index < pauseAt; index++) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) {
      stringAt = index;
      for (index++; index < end; index++) {
        const inside = bytes[index] as number;
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) {
          escapedAt = index;
          index++;
          if (bytes[index] === 0x75) hasEscapes = true;
        }
      }
    } else if (byte === COLON) {
      members++;
      if (escapedAt > stringAt) hasEscapedNames = true;
      if (members > MEMBERS_MAX && depth === 1 && startOf(starts, 0) >= 0) {
        pass.isWide = true;
        isStopped = true;
        break;
      }
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth >= 0 && depth < JSON_DEPTH_MAX) {
        starts[depth] = byte === OPEN_OBJECT ? index : -1;
        membersBefore[depth] = members;
      }
      members = 0;
      depth++;
      parts++;
      if (depth > deepest) deepest = depth;
      if (depth > JSON_DEPTH_MAX || parts > PARTS_MAX) {
        isStopped = true;
        break;
      }
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth--;
      if (depth === 0) pass.rootMembers = members;
      // Colons in an array do not make it wide: a parser fails at the first of them.
      if (members > MEMBERS_MAX && startOf(starts, depth) >= 0) {
        if (byte === CLOSE_ARRAY) pass.isCutShort = true;
        pass.wideObjects = addOutermost(pass.wideObjects, { start: startOf(starts, depth), end: index + 1 });
      }
      members = membersBefore[depth] ?? 0;
    } else if (byte >= 0x30 && byte <= 0x39) {
      const start = index;
      let next = byte;
      while (next >= 0x30 && next <= 0x39) next = bytes[++index] ?? 0;
      if (index - start >= LONG_DIGITS) {
        const kind = classifyDigits(bytes, start, index);
        if (kind === 'integer') longIntegers.push({ start, end: index });
        else if (kind === 'float') hasLargeFloats = true;
        if (longIntegers.length > NUMBER_TEXTS_MAX) {
          isStopped = true;
          break;
        }
      }
      if ((next === 0x65 || next === 0x45) && hasLongExponent(bytes, index + 1)) hasLargeFloats = true;
      index--;
    }
  }
  Object.assign(pass, { index, depth, deepest, members, parts, hasLargeFloats, hasEscapes, hasEscapedNames });
  pass.stringAt = stringAt;
  pass.escapedAt = escapedAt;
  pass.isStopped = isStopped;
}

function factsOf(bytes: Uint8Array, pass: Scan): JsonFacts {
  const { depth, members, parts, rootMembers, isWide, wideObjects, isStopped: isPartial } = pass;
  const { longIntegers, hasLargeFloats, hasEscapedNames, hasEscapes } = pass;
  let { isCutShort } = pass;
  if (!isPartial && depth > 0) isCutShort ||= isWideAround(pass.open, depth, members);
  return {
    depth: pass.deepest,
    longIntegers,
    hasLargeFloats,
    hasEscapedNames,
    hasEscapes,
    bytes: bytes.length,
    wideObjects,
    hasWide: isWide || wideObjects.length > 0,
    hasTooManyParts: parts > PARTS_MAX,
    rootMembers,
    isWide,
    isPartial,
    isCutShort,
  };
}

function startOf(starts: Int32Array, depth: number): number {
  return starts[depth] ?? -1;
}

/** Drops the ranges inside `range`. */
function addOutermost(ranges: readonly ByteRange[], range: ByteRange): readonly ByteRange[] {
  return [...ranges.filter(({ start }) => start < range.start), range];
}

/** Whether any of the `depth` levels open at the end is wide. */
function isWideAround({ membersBefore }: Open, depth: number, innermost: number): boolean {
  return innermost > MEMBERS_MAX || membersBefore.subarray(0, depth).some((count) => count > MEMBERS_MAX);
}

/** Classifies 16 digits or more; null when a double holds them, for decimals, and for invalid numbers. */
function classifyDigits(bytes: Uint8Array, start: number, end: number): 'integer' | 'float' | null {
  const next = bytes[end] ?? 0;
  // Skips decimals, and a leading zero, which the parser must see to refuse it.
  if (bytes[start - 1] === POINT || bytes[start] === 0x30) return null;
  if (next === POINT || next === 0x65 || next === 0x45) return 'float';
  if (end - start > LONG_DIGITS) return 'integer';
  let value = 0;
  for (let index = start; index < end; index++) value = value * 10 + (bytes[index] as number) - 0x30;
  return Number.isSafeInteger(value) ? null : 'integer';
}

/** A shorter exponent keeps any number of up to 15 digits within the range of a double. */
function hasLongExponent(bytes: Uint8Array, start: number): boolean {
  const sign = bytes[start];
  const first = sign === 0x2b || sign === 0x2d ? start + 1 : start;
  return isDigit(bytes[first]) && isDigit(bytes[first + 1]) && isDigit(bytes[first + 2]);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
