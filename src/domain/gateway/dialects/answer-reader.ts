/** Reads the answer of a provider while its bytes pass on to the caller. */

import { parseJson, scanJson } from '../../../json/json-text.ts';
import { isObject, type LosslessJson, type LosslessObject } from '../../../json/lossless-json.ts';
import { Fault } from '../../fault.ts';
import { type Answer, createAnswer } from './answer.ts';
import { isUsageOnly, readChat, readEmbeddings } from './chat-answer.ts';
import { type AnswerFacts, dialectOf, type RouteKind } from './dialect.ts';
import { createEventStream, dataRanges, EVENT_MAX_BYTES, joinData, type Range, toEventRanges } from './event-stream.ts';
import { createHeldBytes, type HoldMemory } from './held-bytes.ts';
import { applySplices, findMembers, removalsOf } from './json-members.ts';
import { readMessages, readMessagesEvent } from './messages-answer.ts';
import { outputOfEvent, outputOfResponse, readResponses, readResponsesEvent } from './responses-answer.ts';

type AnswerReaderOptions = {
  readonly route: RouteKind;
  /** Whether the answer is a stream of events: what its content type says. */
  readonly isStreamed: boolean;
  /** Streamed chat of a caller who did not ask for the usage: what tells it is removed. */
  readonly hidesUsage: boolean;
  /** Whether the output is kept for the span. */
  readonly captures: boolean;
  /** Whether guardrails judge the answer, which need all of its texts; false by default. */
  readonly isJudged?: boolean;
  readonly holdMemory: HoldMemory;
};

export type AnswerReader = {
  /** Returns the bytes for the caller, which may hold views of `part`. */
  read(part: Buffer): Buffer;
  /** The answer is through. Returns the last bytes for the caller. */
  end(): Buffer;
  /** Whether any generated token was read. Costs nothing, unlike `facts`. */
  hasOutput(): boolean;
  /** Of what was read so far. */
  facts(): AnswerFacts;
};

type Read = (body: LosslessObject, answer: Answer) => void;

const NOTHING = Buffer.alloc(0);
/** A larger answer that is no stream passes unread, and so does one for which there is no memory. */
const WHOLE_MAX_BYTES = EVENT_MAX_BYTES;
const DONE = Buffer.from('[DONE]');

export function createAnswerReader(options: AnswerReaderOptions): AnswerReader {
  const { route, isStreamed, hidesUsage, captures, isJudged = false, holdMemory } = options;
  const answer = createAnswer({ captures, isJudged, isCachedInInput: dialectOf(route) === 'openai' });
  if (isStreamed)
    return createStream({ answer, read: EVENTS[route], hidesUsage: hidesUsage && route === 'chat', holdMemory });
  // What has not been read counts as output, where the output is text.
  const countsBytes = route !== 'embeddings' && route !== 'count_tokens';
  return createWhole({ answer, read: WHOLES[route], countsBytes, holdMemory });
}

const EVENTS: { readonly [route in RouteKind]: Read } = {
  chat: withRest(readChat),
  responses: withRest(readResponsesEvent, outputOfEvent),
  messages: withRest(readMessagesEvent),
  embeddings: withRest(readEmbeddings),
  count_tokens: ignore,
};

const WHOLES: { readonly [route in RouteKind]: Read } = {
  ...EVENTS,
  responses: withRest(readResponses, outputOfResponse),
  messages: withRest(readMessages),
};

function ignore(): void {}

/** `answerIn`: the part of a body that does not repeat the request. */
function withRest(read: Read, answerIn = (body: LosslessObject) => body): Read {
  return (body, answer) => {
    read(body, answer);
    answer.endEvent(answerIn(body));
  };
}

type Reading = { readonly answer: Answer; readonly read: Read; readonly holdMemory: HoldMemory };

function createStream({ answer, read, holdMemory, hidesUsage }: Reading & { hidesUsage: boolean }): AnswerReader {
  const stream = createEventStream({
    ...{ holdMemory, onUnread: answer.skip },
    read(event) {
      const ranges = dataRanges(event);
      if (ranges.length === 0) return event;
      const data = joinData(event, ranges);
      if (data.equals(DONE)) answer.complete();
      const body = parseEvent(data);
      if (body === null && data.length > 0 && !data.equals(DONE)) answer.skip();
      if (body === null) return event;
      read(body, answer);
      if (!hidesUsage) return event;
      if (isUsageOnly(body)) return NOTHING;
      const isNull = Object.hasOwn(body, 'usage') && body.usage === null;
      return isNull ? withoutNullUsage(event, data, ranges) : event;
    },
  });
  return { read: stream.push, end: stream.end, hasOutput: answer.hasOutput, facts: answer.facts };
}

/** A larger event could nest so deep that parsing it takes much memory. */
const SMALL_MAX_BYTES = 65_536;

/** Null: it is not a JSON object. Of one that nests deep only members at known places are read. */
function parseEvent(data: Buffer): LosslessObject | null {
  if (data.length > SMALL_MAX_BYTES) return parseWhole(data);
  try {
    const event: LosslessJson = JSON.parse(data.toString());
    return isObject(event) ? event : null;
  } catch {
    return null;
  }
}

/** `lines`: where the event has its data. */
function withoutNullUsage(event: Buffer, data: Buffer, lines: readonly Range[]): Buffer {
  const members = findMembers(data, 'usage');
  if (members === null) return event;
  const removed = removalsOf(members).flatMap((removal) => toEventRanges(lines, removal));
  return applySplices(
    event,
    removed.map((range) => ({ ...range, text: '' })),
  );
}

function createWhole({ answer, read, holdMemory, countsBytes }: Reading & { countsBytes: boolean }): AnswerReader {
  const held = createHeldBytes(holdMemory);
  /** Of an answer that is too large. */
  let passedBytes = 0;
  let hasEnded = false;
  return {
    read(part) {
      if (passedBytes > 0 || held.length + part.length > WHOLE_MAX_BYTES || !held.add(part)) {
        passedBytes += held.take().length + part.length;
      }
      return part;
    },
    end() {
      hasEnded = true;
      const bytes = held.take();
      const body = parseWhole(bytes);
      if (body !== null) read(body, answer);
      else if (bytes.length + passedBytes > 0) {
        answer.skip();
        if (countsBytes) answer.addUnread(bytes.length + passedBytes);
      }
      if (body !== null || passedBytes > 0) answer.complete();
      return NOTHING;
    },
    hasOutput: () => answer.hasOutput() || held.length + passedBytes > 0,
    facts() {
      const facts = answer.facts();
      const unreadBytes = hasEnded || !countsBytes ? 0 : held.length + passedBytes;
      if (unreadBytes === 0) return facts;
      return { ...facts, outputBytes: facts.outputBytes + unreadBytes, hasOutput: true, isWhole: false };
    },
  };
}

/** Null: it is not a JSON object that may be kept. */
function parseWhole(bytes: Buffer): LosslessObject | null {
  try {
    const body = parseJson(bytes, scanJson(bytes), 'values') as LosslessJson;
    return isObject(body) ? body : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
