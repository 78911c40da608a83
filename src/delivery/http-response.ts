/** Parses one HTTP/1 response from buffers of any size, up to its limits. */

import { cutToCharacters } from '../domain/text-limits.ts';
import { type ChunkedBody, createChunkedBody, GOES_ON, MALFORMED } from './chunked-body.ts';
import { parseHead, type ResponseHead } from './http-head.ts';

/**
 * `head`: the headers are incomplete. `bad`: they are malformed or too large. With complete headers: `body`: more is to
 * come; `end`: the response is complete; `cut`: reading must stop.
 */
export type Progress = 'head' | 'bad' | 'body' | 'end' | 'cut';

export type ResponseReader = ReturnType<typeof createResponseReader>;

/** The most bytes of one read of a socket. */
export const READ_MAX_BYTES = 16_384;
/** The limit of all header blocks of a response, interim ones included. */
const HEAD_MAX_BYTES = 16_384;
const BODY_MAX_BYTES = 65_536;
const TEXT_MAX_CHARACTERS = 1_000;
/** A character has at most four bytes. */
const TEXT_MAX_BYTES = TEXT_MAX_CHARACTERS * 4;
const CR = 0x0d;
const LF = 0x0a;
/** The longest end of a header block, whose lines may end in LF alone. */
const HEAD_END_MAX_BYTES = 4;
const HEAD_START = Buffer.from('HTTP/1.');
const SWITCHING_PROTOCOLS = 101;

export function createResponseReader() {
  const headBytes = createHeadBytes();
  const kept = createKeptText();
  let head: ResponseHead | null = null;
  let chunked: ChunkedBody | null = null;
  let leftBytes = 0;
  let bodyBytes = 0;
  let isUsable = false;

  const begin = (parsed: ResponseHead) => {
    head = parsed;
    if (parsed.framing.kind === 'chunked') chunked = createChunkedBody();
    if (parsed.framing.kind === 'length') leftBytes = parsed.framing.bytes;
    isUsable = parsed.framing.kind !== 'untilClose' && parsed.keptMs !== 0;
  };
  /** Where the body ends in these bytes. */
  const findEnd = (bytes: Buffer, { framing }: ResponseHead): number => {
    if (chunked) return chunked.read(bytes, kept.add);
    if (framing.kind === 'untilClose') {
      kept.add(bytes);
      return GOES_ON;
    }
    const content = bytes.subarray(0, leftBytes);
    kept.add(content);
    leftBytes -= content.length;
    return leftBytes === 0 ? content.length : GOES_ON;
  };
  const readBody = (bytes: Buffer, of: ResponseHead): Progress => {
    bodyBytes += bytes.length;
    const end = findEnd(bytes, of);
    if (end === MALFORMED) return 'cut';
    if (end !== GOES_ON) {
      // Bytes after the end would be read as the next response.
      if (end < bytes.length) isUsable = false;
      return 'end';
    }
    // Another read could exceed the limit.
    return bodyBytes + READ_MAX_BYTES > BODY_MAX_BYTES ? 'cut' : 'body';
  };
  return {
    /** The bytes may be overwritten after the call. */
    read(bytes: Buffer): Progress {
      if (head) return readBody(bytes, head);
      for (let rest = bytes; ; ) {
        const block = headBytes.read(rest);
        if (typeof block === 'string') return block;
        const parsed = parseHead(block.text);
        if (!parsed) return 'bad';
        rest = rest.subarray(block.end);
        if (parsed.status >= 200 || parsed.status === SWITCHING_PROTOCOLS) {
          begin(parsed);
          return parsed.status === SWITCHING_PROTOCOLS ? 'cut' : readBody(rest, parsed);
        }
        if (rest.length === 0) return 'head';
      }
    },
    /** The receiver closed the connection. */
    readEnd: (): Progress => (head ? 'cut' : headBytes.hasBegun() ? 'bad' : 'head'),
    head: () => head,
    /** Whether the connection can be reused. Valid only at the end. */
    leavesConnectionUsable: () => isUsable,
    /** The first characters of the body received so far. */
    text: kept.text,
    hasWholeText: kept.isFull,
  };
}

function createHeadBytes() {
  let leftBytes = HEAD_MAX_BYTES;
  /** Holds a header block that arrives in several reads; one that arrives whole is not copied. */
  let gathered: Buffer | null = null;
  let gatheredBytes = 0;

  const gather = (bytes: Buffer) => {
    gathered ??= Buffer.allocUnsafe(HEAD_MAX_BYTES);
    const before = gatheredBytes;
    const copied = bytes.copy(gathered, before, 0, leftBytes - before);
    const all = gathered.subarray(0, before + copied);
    gatheredBytes = all.length;
    // The end may straddle two reads.
    return { all, found: findEnd(all, Math.max(0, before - HEAD_END_MAX_BYTES + 1)), before };
  };
  const finish = (block: Buffer, { at, end }: HeadEnd, before: number) => {
    leftBytes -= end;
    gatheredBytes = 0;
    return { text: block.toString('latin1', 0, at), end: end - before };
  };
  return {
    /** The header block and where it ends in these bytes, once it is complete. Empty lines before it are passed over. */
    read(bytes: Buffer): { readonly text: string; readonly end: number } | 'head' | 'bad' {
      const skipped = gatheredBytes === 0 ? countLineEnds(bytes) : 0;
      const rest = bytes.subarray(skipped);
      leftBytes -= skipped;
      if (gatheredBytes === 0) {
        const found = findEnd(rest, 0);
        if (found !== null) return found.end > leftBytes ? 'bad' : finish(rest, found, -skipped);
      }
      if (leftBytes <= 0) return 'bad';
      const { all, found, before } = gather(rest);
      if (found !== null) return finish(all, found, before - skipped);
      const start = Math.min(all.length, HEAD_START.length);
      const isHttp = all.compare(HEAD_START, 0, start, 0, start) === 0;
      return isHttp && gatheredBytes < leftBytes ? 'head' : 'bad';
    },
    /** Whether a part of the header block has arrived. */
    hasBegun: () => gatheredBytes > 0,
  };
}

/** Where a header block ends: before its last line end, and after the empty line. */
type HeadEnd = { readonly at: number; readonly end: number };

/** Null: the empty line has not arrived. */
function findEnd(bytes: Buffer, from: number): HeadEnd | null {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    const next = bytes[at + 1];
    if (next === LF) return { at, end: at + 2 };
    if (next === CR && bytes[at + 2] === LF) return { at, end: at + 3 };
  }
  return null;
}

/** Of the bytes' beginning. */
function countLineEnds(bytes: Buffer): number {
  let count = 0;
  while (bytes[count] === CR || bytes[count] === LF) count += 1;
  return count;
}

function createKeptText() {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return {
    add(content: Buffer): void {
      const count = Math.min(content.length, TEXT_MAX_BYTES - bytes);
      if (count === 0) return;
      pieces.push(Buffer.from(content.subarray(0, count)));
      bytes += count;
    },
    isFull: () => bytes === TEXT_MAX_BYTES,
    text: () => cutToCharacters(Buffer.concat(pieces).toString('utf8').replaceAll('\0', ''), TEXT_MAX_CHARACTERS),
  };
}
