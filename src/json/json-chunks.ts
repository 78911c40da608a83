/**
 * Parses a large JSON document in chunks, so that other requests get turns of the event loop in between. The result is
 * that of a parser of the whole document: each byte is parsed once, as part of a list of values or of members, and
 * this module checks only the syntax between chunks.
 */

import type { Steps } from '../domain/steps.ts';
import { textStart } from './exact-json.ts';
import { broken, PLAIN } from './json-parser.ts';
import type { ByteRange } from './json-scan.ts';
import { TOO_WIDE } from './wide-json.ts';

/** Parsed at once, unless a single string is longer. */
const CHUNK_BYTES = 65_536;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Parses the bytes of a whole array or object. Throws SyntaxError. */
type ParseChunk = (bytes: Buffer) => unknown;

/** An open array or object. */
type Frame = {
  readonly isArray: boolean;
  readonly start: number;
  /** Null while all of it may still be one chunk. */
  target: unknown[] | Record<string, unknown> | null;
  /** Where the unparsed bytes begin. */
  from: number;
  /** The last comma after `from`; -1: none. */
  comma: number;
  /** What must follow at `from`: `first` an item or none, `more` an item, `end` a comma or none. */
  expects: 'first' | 'more' | 'end';
  /** The name of the open member. */
  key: string;
};

type ChunkOptions = {
  /** TOO_WIDE replaces them: they are not built. */
  readonly wideObjects: readonly ByteRange[];
  readonly parse: ParseChunk;
  readonly chunkBytes?: number;
};

/** Throws SyntaxError, and errors of `parse`. */
export function* parseInChunks(
  bytes: Buffer,
  { wideObjects, parse, chunkBytes = CHUNK_BYTES }: ChunkOptions,
): Steps<unknown> {
  const wide = new Map(wideObjects.map(({ start, end }) => [start, end]));
  const open: Frame[] = [];
  let at = skipSpace(bytes, textStart(bytes), bytes.length);
  const rootAt = at;
  let parsedTo = at;
  const first = bytes[at];
  // A string or a number cannot be split.
  if (first !== OPEN_ARRAY && first !== OPEN_OBJECT) return parseOne(parse, bytes.subarray(rootAt));

  const append = (frame: Frame, to: number) => {
    const inner = bytes.subarray(frame.from, to);
    const [opening, closing] = frame.isArray ? ['[', ']'] : ['{', '}'];
    addAll(frame, parse(Buffer.concat([Buffer.from(opening), inner, Buffer.from(closing)])));
  };

  /** Parses the bytes before a comma or before the end. */
  const flush = (frame: Frame, to: number, isEnd: boolean) => {
    let from = skipSpace(bytes, frame.from, to);
    if (frame.expects === 'end' && from < to) {
      if (bytes[from] !== COMMA) throw broken();
      frame.from = from + 1;
      frame.expects = 'more';
      from = skipSpace(bytes, frame.from, to);
    }
    if (from < to) append(frame, to);
    else if (frame.expects === 'more' || (frame.expects === 'first' && !isEnd)) throw broken();
    frame.from = to + 1;
    frame.comma = -1;
    frame.expects = 'more';
  };

  /** Parses the bytes before an open value. */
  const begin = (frame: Frame, valueAt: number) => {
    frame.target ??= frame.isArray ? [] : {};
    if (frame.comma >= frame.from) flush(frame, frame.comma, false);
    if (frame.expects === 'end') throw broken();
    const from = skipSpace(bytes, frame.from, valueAt);
    const last = lastBefore(bytes, from, valueAt);
    if (frame.isArray ? last >= from : bytes[last] !== COLON) throw broken();
    if (!frame.isArray) frame.key = readKey(parse, bytes.toString('utf8', from, last));
  };

  const end = (frame: Frame, value: unknown, closedAt: number) => {
    put(frame, value);
    frame.from = closedAt + 1;
    frame.comma = -1;
    frame.expects = 'end';
  };

  /** Builds all open frames, down to the innermost. */
  const beginAll = (valueAt: number | null) => {
    for (const [level, frame] of open.entries()) {
      const inner = open[level + 1];
      if (inner === undefined) {
        frame.target ??= frame.isArray ? [] : {};
        if (valueAt !== null) begin(frame, valueAt);
      } else if (inner.target === null) begin(frame, inner.start);
    }
  };

  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      const wideEnd = wide.get(at);
      const outer = open.at(-1);
      if (wideEnd !== undefined && outer !== undefined) {
        beginAll(at);
        at = wideEnd - 1;
        end(outer, TOO_WIDE, at);
        parsedTo = at;
        continue;
      }
      const isArray = byte === OPEN_ARRAY;
      open.push({ isArray, start: at, target: null, from: at + 1, comma: -1, expects: 'first', key: '' });
    } else if (byte === COMMA) {
      const innermost = open.at(-1);
      if (innermost === undefined) throw broken();
      innermost.comma = at;
      if (at - parsedTo < chunkBytes) continue;
      beginAll(null);
      flush(innermost, at, false);
      parsedTo = at;
      yield;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      const closed = open.pop();
      if (closed === undefined || closed.isArray !== (byte === CLOSE_ARRAY)) throw broken();
      const outer = open.at(-1);
      if (closed.target !== null) flush(closed, at, true);
      if (outer !== undefined) {
        if (closed.target !== null) end(outer, closed.target, at);
        continue;
      }
      if (skipSpace(bytes, at + 1, bytes.length) < bytes.length) throw broken();
      return closed.target ?? parse(bytes.subarray(rootAt, at + 1));
    }
  }
  throw broken();
}

function parseOne(parse: ParseChunk, bytes: Buffer): unknown {
  const items = parse(Buffer.concat([Buffer.from('['), bytes, Buffer.from(']')])) as unknown[];
  if (items.length !== 1) throw broken();
  return items[0];
}

function readKey(parse: ParseChunk, text: string): string {
  const [key] = Object.keys(parse(Buffer.from(`{${text}:0}`)) as object);
  if (key === undefined) throw broken();
  return key;
}

function addAll(frame: Frame, parsed: unknown): void {
  if (Array.isArray(parsed)) {
    for (const item of parsed) (frame.target as unknown[]).push(item);
    return;
  }
  const members = parsed as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    frame.key = name;
    put(frame, members[name]);
  }
}

function put({ target, key }: Frame, value: unknown): void {
  if (Array.isArray(target)) target.push(value);
  // Assigning it would set the prototype.
  else if (key === '__proto__') Object.defineProperty(target, key, { value, ...PLAIN });
  else if (target !== null) target[key] = value;
}

function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  throw broken();
}

function skipSpace(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(bytes[at])) at += 1;
  return at;
}

/** Index of the last byte that is not a space; `from` - 1: none. */
function lastBefore(bytes: Buffer, from: number, to: number): number {
  let at = to - 1;
  while (at >= from && isSpace(bytes[at])) at -= 1;
  return at;
}

/** The four of JSON; JSON.parse refuses the other spaces of JavaScript. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
