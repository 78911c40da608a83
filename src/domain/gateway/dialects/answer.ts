/** What has been read of an answer so far, whatever its dialect. */

import { nestsDeeperThan } from '../../../json/free-json.ts';
import { JSON_DEPTH_MAX } from '../../../json/json-text.ts';
import { type LosslessJson, type LosslessObject, stringifyLossless } from '../../../json/lossless-json.ts';
import type { RequestUsage } from '../../events/request-content.ts';
import { cutToBytes, cutToCharacters } from '../../text-limits.ts';
import { type AnswerError, type AnswerFacts, NO_PARTS, type PricedParts, type TypedInput } from './dialect.ts';
import { createOtherTexts } from './other-texts.ts';

/** Kept of the texts of one answer, for the span. */
const KEPT_MAX_BYTES = 1024 * 1024;
/** Messages and calls of tools that are kept of one answer. */
const PARTS_MAX = 1_024;
const NAME_CHARACTERS_MAX = 512;
const MESSAGE_CHARACTERS_MAX = 2_000;

/** A part of a message that grows. */
export type TextKind = 'content' | 'reasoning' | 'refusal';
type Text = { kept: string; keptBytes: number; bytes: number };
type Call = { id: string | null; name: string; readonly input: Text };
type Message = { readonly [kind in TextKind]: Text } & { readonly calls: Map<CallKey, Call> };
/** Tells the calls of one message apart. */
export type CallKey = string | number;

export type Answer = ReturnType<typeof createAnswer>;

type AnswerOptions = {
  readonly captures: boolean;
  /** Whether guardrails judge it, which need all of its texts. */
  readonly isJudged: boolean;
  readonly isCachedInInput: boolean;
};

export function createAnswer({ captures, isJudged, isCachedInInput }: AnswerOptions) {
  const others = isJudged ? createOtherTexts() : null;
  const messages = new Map<number, Message>();
  let usage: RequestUsage | null = null;
  let pricedParts: PricedParts = NO_PARTS;
  let serviceTier: string | null = null;
  let outputBytes = 0;
  let isComplete = false;
  let hasOutput = false;
  let model: string | null = null;
  let error: AnswerError | null = null;
  let value: LosslessJson = null;
  let keptBytes = 0;
  let parts = 0;
  let isUnread = false;

  function add(text: Text | null, piece: string): void {
    const bytes = Buffer.byteLength(piece);
    outputBytes += bytes;
    if (bytes > 0) hasOutput = true;
    if (text === null) return;
    const room = KEPT_MAX_BYTES - keptBytes;
    // A text that was cut goes on nowhere.
    const kept = text.keptBytes < text.bytes || room === 0 ? '' : bytes <= room ? piece : cutToBytes(piece, room);
    text.kept += kept;
    text.keptBytes += kept === piece ? bytes : Buffer.byteLength(kept);
    text.bytes += bytes;
    keptBytes = kept === piece ? keptBytes + bytes : KEPT_MAX_BYTES;
  }

  function messageAt(choice: number): Message | null {
    const known = messages.get(choice);
    if (known !== undefined || !captures || parts >= PARTS_MAX) return known ?? null;
    parts += 1;
    const message = { content: createText(), reasoning: createText(), refusal: createText(), calls: new Map() };
    messages.set(choice, message);
    return message;
  }

  function callAt(choice: number, key: CallKey): Call | null {
    const message = messageAt(choice);
    const known = message?.calls.get(key);
    if (message === null || known !== undefined || parts >= PARTS_MAX) return known ?? null;
    parts += 1;
    const call: Call = { id: null, name: '', input: createText() };
    message.calls.set(key, call);
    return call;
  }

  return {
    addText(kind: TextKind, choice: number, piece: LosslessJson | undefined): void {
      if (typeof piece !== 'string' || piece === '') return;
      others?.take(piece);
      add(messageAt(choice)?.[kind] ?? null, piece);
    },
    /** `input`: a text, or the JSON of one; null: not told. */
    addCall(
      choice: number,
      key: CallKey,
      told: { readonly [name in 'id' | 'name' | 'input']?: LosslessJson | undefined },
    ) {
      const { id, name, input } = told;
      const call = callAt(choice, key);
      if (typeof name === 'string' && name !== '') hasOutput = true;
      if (call !== null && typeof id === 'string' && id !== '') call.id = cutToCharacters(id, NAME_CHARACTERS_MAX);
      if (call !== null && typeof name === 'string' && name !== '')
        call.name = cutToCharacters(name, NAME_CHARACTERS_MAX);
      const text = typeof input === 'string' ? input : jsonText(input);
      if (text !== '') others?.take(input);
      add(call?.input ?? null, text);
    },
    /** What has no messages. */
    setValue(answer: LosslessObject): void {
      hasOutput = true;
      if (captures) value = answer;
    },
    setUsage(told: RequestUsage, toldParts: PricedParts): void {
      usage = told;
      pricedParts = toldParts;
    },
    /** The last one counts: a stream may begin with the tier that was asked for. */
    setServiceTier(name: LosslessJson): void {
      serviceTier = textOf(name, NAME_CHARACTERS_MAX) || serviceTier;
    },
    setModel(name: LosslessJson | undefined): void {
      if (typeof name === 'string' && name !== '') model = cutToCharacters(name, NAME_CHARACTERS_MAX);
    },
    setError(type: LosslessJson | undefined, message: LosslessJson | undefined): void {
      error = { type: textOf(type, NAME_CHARACTERS_MAX), message: textOf(message, MESSAGE_CHARACTERS_MAX) };
    },
    complete(): void {
      isComplete = true;
    },
    /** Bytes that could not be read count as output. */
    addUnread(bytes: number): void {
      outputBytes += bytes;
      hasOutput ||= bytes > 0;
    },
    /** Something passed unread that certainly is not output. */
    skip(): void {
      isUnread = true;
    },
    /** What was read of the event is all that the dialect knows of it. */
    endEvent(event: LosslessObject): void {
      others?.endEvent(event);
    },
    usage: () => usage,
    parts: () => pricedParts,
    hasOutput: () => hasOutput,
    facts(): AnswerFacts {
      const output = outputOf(messages, value);
      const isKept = keptBytes === outputBytes && others?.isWhole() !== false;
      const isWhole = captures && !isUnread && isKept;
      const told = { usage, parts: pricedParts, serviceTier, others: others?.beside(textsOf(messages)) ?? [] };
      return { ...told, isCachedInInput, outputBytes, isComplete, hasOutput, output, isWhole, model, error };
    },
  };
}

function textsOf(messages: ReadonlyMap<number, Message>): readonly string[] {
  return [...messages.values()].flatMap(({ content, reasoning, refusal, calls }) => [
    ...[content, reasoning, refusal].map(({ kept }) => kept),
    ...[...calls.values()].flatMap(({ name, input }) => [name, input.kept]),
  ]);
}

/** Of an input that is not a text. */
function jsonText(input: LosslessJson | undefined): string {
  const isText = input !== undefined && input !== null && !nestsDeeperThan(input, JSON_DEPTH_MAX);
  return isText ? stringifyLossless(input) : '';
}

function createText(): Text {
  return { kept: '', keptBytes: 0, bytes: 0 };
}

function textOf(value: LosslessJson | undefined, charactersMax: number): string | null {
  return typeof value === 'string' ? cutToCharacters(value, charactersMax).toWellFormed() : null;
}

function outputOf(messages: ReadonlyMap<number, Message>, value: LosslessJson): TypedInput | null {
  if (value !== null) return { type: 'json', value };
  if (messages.size === 0) return null;
  const ordered = [...messages].toSorted(([one], [other]) => one - other);
  return { type: 'chat_messages', value: ordered.map(([, message]) => showMessage(message)) };
}

function showMessage({ content, reasoning, refusal, calls }: Message): LosslessObject {
  const text = content.bytes === 0 ? null : show(content);
  return {
    role: 'assistant',
    content: reasoning.bytes === 0 ? text : withReasoning(show(reasoning), text),
    ...(refusal.bytes > 0 && { refusal: show(refusal) }),
    ...(calls.size > 0 && { tool_calls: [...calls.values()].map(showCall) }),
  };
}

function withReasoning(reasoning: string, text: string | null): readonly LosslessObject[] {
  const thought = { type: 'reasoning', text: reasoning };
  return text === null ? [thought] : [thought, { type: 'text', text }];
}

function showCall({ id, name, input }: Call): LosslessObject {
  return {
    ...(id !== null && { id: id.toWellFormed() }),
    type: 'function',
    function: { name: name.toWellFormed(), arguments: show(input) },
  };
}

/** With a mark when it was cut, as other texts of spans. */
function show({ kept, keptBytes, bytes }: Text): string {
  const text = kept.toWellFormed();
  return keptBytes < bytes ? `${text}…[truncated: ${bytes} bytes]` : text;
}
