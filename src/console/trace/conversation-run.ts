/** The dialogue of a whole run, and of one span. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type SpanError,
  SpanType,
  type Trace,
  type TraceSpan,
  type TypedValue,
} from '../../../gen/spandrel/v1/traces_pb.js';
import { createDialogue, type Step, type Turn, type TurnOrigin } from './conversation-turns.ts';
import { parseExactly } from './exact-json.ts';
import { type Message, type Part, partsOfText, readMessages } from './messages.ts';

type Said = { readonly input: readonly Message[]; readonly output: readonly Message[] };
type Event = { readonly atMs: number; readonly order: number; readonly act: () => void };

const FIRST_SPANS = 500;
const ANCESTORS_MAX = 100;
/** Of the spans of a run, for whether a text of the whole trace was said in one. */
const COMPARED_TURNS_MAX = 2_000;
/** A shorter text may be part of another by chance. */
const QUOTED_MIN = 20;

/**
 * Reads runs. What reappears in the input of a later call, or in the output of the agent around a call, was said once. Spans
 * that were read before are not parsed again when more have loaded.
 */
export function createRunReader() {
  const read = new WeakMap<TraceSpan, Said | null>();
  const saidIn = (span: TraceSpan): Said | null => {
    const known = read.get(span);
    if (known !== undefined) return known;
    const said = readSaid(span);
    read.set(span, said);
    return said;
  };

  const build = (trace: Trace, spans: readonly TraceSpan[]): readonly Turn[] => {
    const dialogue = createDialogue();
    const seen = createSeen(spans);
    const events: Event[] = [];
    for (const span of spans) {
      const { startedAt, finishedAt } = span.timestamps ?? {};
      const startMs = startedAt ? timestampMs(startedAt) : 0;
      const endMs = Math.max(startMs, finishedAt ? timestampMs(finishedAt) : startMs);
      const step = readStep(span, endMs - startMs);
      if (step !== null) {
        const add = () => dialogue.addStep(step, `${span.spanId}/step`, () => jsonOf(span));
        events.push({ atMs: startMs, order: 1, act: add });
        continue;
      }
      const said = saidIn(span);
      if (said === null) continue;
      events.push({ atMs: startMs, order: 1, act: () => addNew(said.input, span, 'in') });
      // What answers a call comes before the next call of the same moment, and after its own input.
      events.push({ atMs: endMs, order: endMs === startMs ? 2 : 0, act: () => addNew(said.output, span, 'out') });
    }
    const addNew = (messages: readonly Message[], span: TraceSpan, side: 'in' | 'out') => {
      const isNew = seen.of(span, side);
      for (const [index, message] of messages.entries()) {
        if (isNew(message)) dialogue.addMessage(message, originOf(span), `${span.spanId}/${side}/${index}`);
      }
    };
    const ordered = events.toSorted((one, other) => one.atMs - other.atMs || one.order - other.order);
    for (const { act } of ordered) act();
    return withWhole(trace, spans, dialogue.turns);
  };

  /** What was built last, of how many spans, and of which last one. */
  let last: { readonly count: number; readonly span: TraceSpan | undefined; readonly turns: readonly Turn[] } | null =
    null;
  return (trace: Trace, spans: readonly TraceSpan[]): readonly Turn[] => {
    const count = builtCount(spans.length, trace.spanCount);
    const span = spans[count - 1];
    if (last?.count !== count || last.span !== span) {
      last = { count, span, turns: build(trace, spans.slice(0, count)) };
    }
    return last.turns;
  };
}

/** While spans load, the dialogue is built again each time when there are twice as many: else its cost would be their square. */
function builtCount(loaded: number, all: bigint): number {
  if (BigInt(loaded) >= all || loaded <= FIRST_SPANS) return loaded;
  return FIRST_SPANS * 2 ** Math.floor(Math.log2(loaded / FIRST_SPANS));
}

/** The turns of one span: its messages, or its input and output as they are, and the documents that it found. */
export function turnsOfSpan(span: TraceSpan): readonly Turn[] {
  const dialogue = createDialogue();
  const said = readSaid(span) ?? {
    input: messagesOf(span.input, 'input', 'input') ?? [],
    output: messagesOf(span.output, 'output', 'output') ?? [],
  };
  for (const side of ['input', 'output'] as const) {
    for (const [index, message] of said[side].entries()) {
      dialogue.addMessage(message, null, `${span.spanId}/${side}/${index}`);
    }
  }
  for (const [index, { content, documentId, chunkId }] of span.contexts.entries()) {
    const source = { document_id: documentId, chunk_id: chunkId, content };
    const role = `document ${index + 1} of ${span.contexts.length}`;
    const parts: readonly Part[] = [{ kind: 'text', text: content }];
    dialogue.addMessage({ role, parts, source }, null, `${span.spanId}/document/${index}`);
  }
  return dialogue.turns;
}

function originOf({ spanId, name }: TraceSpan): TurnOrigin {
  return { spanId, name };
}

/** The messages of a span that talks to a model; null for other spans. */
function readSaid(span: TraceSpan): Said | null {
  const isOfChat = [span.input, span.output].some((value) => value?.type === 'chat_messages');
  if (span.type === SpanType.TOOL || (span.type !== SpanType.LLM && !isOfChat)) return null;
  const output = messagesOf(span.output, 'assistant', 'output') ?? [];
  // An agent only passes on the error of a call.
  const failure = span.type === SpanType.LLM && span.error ? [failureOf(span.error)] : [];
  return { input: messagesOf(span.input, 'user', 'input') ?? [], output: [...output, ...failure] };
}

function failureOf({ message, stacktrace }: SpanError): Message {
  return { role: 'error', parts: [{ kind: 'text', text: message }], source: { message, stacktrace } };
}

/** A value as messages; one that is not a list of messages is one message of the role. */
function messagesOf(value: TypedValue | undefined, role: string, title: string): readonly Message[] | null {
  if (value === undefined) return null;
  const isListed = value.type === 'chat_messages' || role === 'user' || role === 'assistant';
  const messages = isListed ? readMessages(value.valueJson) : null;
  if (messages !== null) return messages;
  const source = parseExactly(value.valueJson);
  return [{ role, parts: partsOfValue(value, title), source }];
}

/** Shows a text as text, everything else as JSON. */
function partsOfValue({ valueJson }: TypedValue, title: string): readonly Part[] {
  if (!valueJson.startsWith('"')) return [{ kind: 'json', text: valueJson, title }];
  return partsOfText(String(JSON.parse(valueJson)));
}

/** The step of a tool, or of a search for documents; null for other spans. */
function readStep(span: TraceSpan, ms: number): Step | null {
  if (span.type !== SpanType.TOOL && span.type !== SpanType.RAG) return null;
  const documents = span.contexts.map(
    ({ content, documentId }, index): Part => ({
      kind: 'text',
      title: `Document ${index + 1}${documentId === undefined ? '' : `, ${documentId}`}`,
      text: content,
    }),
  );
  const output = span.output ? partsOfValue(span.output, 'result') : [];
  const result = [...output, ...documents];
  return {
    ...originOf(span),
    ms,
    argumentsJson: span.input?.valueJson ?? null,
    result: result.length === 0 ? null : result,
    error: span.error?.message ?? null,
  };
}

function jsonOf({ input, output }: TraceSpan): string {
  return `{"input":${input?.valueJson ?? 'null'},"output":${output?.valueJson ?? 'null'}}`;
}

/** The spans that put out a message, and all above them. */
type Emitters = { readonly spans: Set<string>; readonly above: Set<string> };

/** Tells what was said before. */
function createSeen(spans: readonly TraceSpan[]) {
  const parents = new Map(spans.map(({ spanId, parentId }) => [spanId, parentId]));
  /** How often a message was said, and by which spans it was put out. */
  const counts = new Map<string, number>();
  const emitters = new Map<string, Emitters>();
  /** A span and those above it. */
  const lineOf = (spanId: string): readonly string[] => {
    const line: string[] = [];
    for (let at: string | undefined = spanId; at !== undefined && line.length < ANCESTORS_MAX; at = parents.get(at)) {
      line.push(at);
    }
    return line;
  };

  return {
    /** A message that a span repeats is new as often as it exceeds what is known. */
    of(span: TraceSpan, side: 'in' | 'out') {
      const own = new Map<string, number>();
      const line = lineOf(span.spanId);
      return (message: Message): boolean => {
        const key = keyOf(message);
        const count = (own.get(key) ?? 0) + 1;
        own.set(key, count);
        const times = counts.get(key) ?? 0;
        if (side === 'in' || span.type !== SpanType.LLM) {
          if (count <= times) return false;
          counts.set(key, count);
          return true;
        }
        // The same model may say the same twice, but a span around another repeats it.
        const known = emitters.get(key) ?? { spans: new Set(), above: new Set() };
        emitters.set(key, known);
        const { spans: said, above } = known;
        const isRepeated = above.has(span.spanId) || line.some((each) => said.has(each));
        said.add(span.spanId);
        for (const each of line) above.add(each);
        if (isRepeated) return false;
        counts.set(key, times + 1);
        return true;
      };
    },
  };
}

/** Equal for messages that say the same, also where one has members that the other lacks. */
function keyOf({ role, parts }: Message): string {
  return JSON.stringify([role, parts.filter(({ kind }) => kind !== 'reasoning').flatMap(keysOf)]);
}

function keysOf(part: Part): readonly unknown[] {
  if (part.kind === 'json' && part.rest) return [];
  if (part.kind === 'result') return [part.id, part.parts.flatMap(keysOf)];
  if (part.kind === 'call') return [part.id, part.name, part.text];
  return part.kind === 'media' ? [part.media.source] : [part.text];
}

/** Adds the input and the output of the whole trace, unless a message has them. */
function withWhole(trace: Trace, spans: readonly TraceSpan[], turns: readonly Turn[]): readonly Turn[] {
  const texts = new Set<string>();
  const compared = [...turns.slice(0, COMPARED_TURNS_MAX), ...turns.slice(-COMPARED_TURNS_MAX)];
  for (const turn of compared) {
    for (const part of (turn.kind === 'message' ? turn.parts : turn.result) ?? []) {
      if (part.kind === 'text' || part.kind === 'json') texts.add(part.text.trim());
    }
  }
  const isQuoted = (text: string) => text.length >= QUOTED_MIN && [...texts].some((each) => each.includes(text));
  const whole = (role: string, value: string | undefined): readonly Turn[] => {
    const text = value?.trim() ?? '';
    if (text === '' || texts.has(text) || isQuoted(text)) return [];
    const parts: readonly Part[] = [{ kind: 'text', text }];
    return [{ kind: 'message', key: `trace/${role}`, origin: null, json: () => JSON.stringify(text), role, parts }];
  };
  const isComplete = BigInt(spans.length) >= trace.spanCount;
  return [...whole('input', trace.input?.value), ...turns, ...(isComplete ? whole('output', trace.output?.value) : [])];
}
