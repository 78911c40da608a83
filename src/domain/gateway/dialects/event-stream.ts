/** Splits server-sent events from bytes that come in parts of any length. */

import { createHeldBytes, type HoldMemory } from './held-bytes.ts';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const DATA = Buffer.from('data');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const NOTHING = Buffer.alloc(0);

/** A larger event passes unread, and so does one for which there is no memory. */
export const EVENT_MAX_BYTES = 8 * 1024 * 1024;

type EventStreamOptions = {
  /** Returns the bytes to pass on. */
  readonly read: (event: Buffer) => Buffer;
  readonly holdMemory: HoldMemory;
  /** An event passes unread. */
  readonly onUnread: () => void;
};

/**
 * The bytes of an event wait for its end: `read` may change them, and behind a part of an event no other can follow. Clients
 * would read an error of ours as its rest.
 */
export function createEventStream({ read, holdMemory, onUnread }: EventStreamOptions) {
  const held = createHeldBytes(holdMemory);
  /** The bytes to pass on. */
  let passed: Buffer[] = [];
  /** Whether the current line has any byte. */
  let isLineBegun = false;
  /** Whether the last part ended in CR: a LF that follows belongs to it. */
  let endedInCr = false;
  /** Whether nothing came since the last event. */
  let isBetween = true;
  let wasRemoved = false;
  /** Whether the current event is too large. */
  let isUnread = false;

  /** Events that came in one part are passed on in one, without a copy. */
  function pass(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const last = passed.at(-1);
    if (last?.buffer === bytes.buffer && last.byteOffset + last.length === bytes.byteOffset) {
      passed[passed.length - 1] = Buffer.from(bytes.buffer, last.byteOffset, last.length + bytes.length);
    } else passed.push(bytes);
  }

  function hold(part: Buffer): void {
    if (part.length === 0) return;
    isBetween = false;
    if (!isUnread && (held.length + part.length > EVENT_MAX_BYTES || !held.add(part))) {
      isUnread = true;
      onUnread();
      pass(held.take());
    }
    if (isUnread) pass(part);
  }

  function finish(part: Buffer): void {
    const isWhole = held.length === 0 && !isUnread && part.length <= EVENT_MAX_BYTES;
    if (!isWhole) hold(part);
    const passedOn = isUnread ? null : read(isWhole ? part : held.take());
    if (passedOn !== null) pass(passedOn);
    wasRemoved = passedOn?.length === 0;
    isUnread = false;
    isBetween = true;
  }

  function takePassed(): Buffer {
    const [first = NOTHING, ...others] = passed;
    passed = [];
    return others.length === 0 ? first : Buffer.concat([first, ...others]);
  }

  return {
    /** Returns the bytes to pass on. */
    push(part: Buffer): Buffer {
      if (part.length === 0) return part;
      let from = 0;
      let at = 0;
      if (endedInCr && part[0] === LF) {
        at = 1;
        if (isBetween) {
          if (!wasRemoved) pass(part.subarray(0, 1));
          from = 1;
        }
      }
      endedInCr = false;
      let lf = part.indexOf(LF, at);
      let cr = part.indexOf(CR, at);
      while (lf >= 0 || cr >= 0) {
        const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
        const isEmpty = end === at && !isLineBegun;
        at = end + 1;
        if (end === cr) {
          if (at === part.length) endedInCr = true;
          else if (part[at] === LF) at += 1;
        }
        isLineBegun = false;
        if (isEmpty) {
          finish(part.subarray(from, at));
          from = at;
        }
        // Each byte is searched once.
        if (lf >= 0 && lf < at) lf = part.indexOf(LF, at);
        if (cr >= 0 && cr < at) cr = part.indexOf(CR, at);
      }
      if (at < part.length) isLineBegun = true;
      hold(part.subarray(from));
      return takePassed();
    },
    /** Reads what is left, although no empty line ends it. */
    end(): Buffer {
      if (held.length > 0) finish(NOTHING);
      return takePassed();
    },
  };
}

/** From `start` up to, not including, `end`. */
export type Range = { readonly start: number; readonly end: number };

/** The data of an event: one range for each of its lines. */
export function dataRanges(event: Buffer): readonly Range[] {
  const ranges: Range[] = [];
  let at = startsWith(event, 0, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  let lf = event.indexOf(LF, at);
  let cr = event.indexOf(CR, at);
  while (at < event.length) {
    const ends = [lf, cr].filter((index) => index >= 0);
    const end = Math.min(event.length, ...ends);
    const range = dataRange(event, at, end);
    if (range !== null) ranges.push(range);
    at = end + 1;
    if (lf >= 0 && lf < at) lf = event.indexOf(LF, at);
    if (cr >= 0 && cr < at) cr = event.indexOf(CR, at);
  }
  return ranges;
}

function dataRange(event: Buffer, start: number, end: number): Range | null {
  const colon = start + DATA.length;
  if (colon > end || !startsWith(event, start, DATA)) return null;
  if (colon === end) return { start: end, end };
  if (event[colon] !== COLON) return null;
  return { start: event[colon + 1] === SPACE ? colon + 2 : colon + 1, end };
}

function startsWith(event: Buffer, at: number, prefix: Buffer): boolean {
  return event.length >= at + prefix.length && event.compare(prefix, 0, prefix.length, at, at + prefix.length) === 0;
}

/** The lines of data as one, each but the last with a line feed. */
export function joinData(event: Buffer, ranges: readonly Range[]): Buffer {
  const [first, ...others] = ranges;
  if (first === undefined) return NOTHING;
  const data = event.subarray(first.start, first.end);
  if (others.length === 0) return data;
  return Buffer.concat([data, ...others.flatMap(({ start, end }) => [LINE_FEED, event.subarray(start, end)])]);
}

const LINE_FEED = Buffer.from('\n');

/** Ranges of joined data as ranges of the event. Line ends stay. */
export function toEventRanges(lines: readonly Range[], { start, end }: Range): readonly Range[] {
  const found: Range[] = [];
  let joinedAt = 0;
  for (const line of lines) {
    const length = line.end - line.start;
    const from = Math.max(start - joinedAt, 0);
    const to = Math.min(end - joinedAt, length);
    if (from < to) found.push({ start: line.start + from, end: line.start + to });
    joinedAt += length + 1;
  }
  return found;
}
