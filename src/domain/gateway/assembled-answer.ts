/**
 * The answer that does not stream, put together from the events of a stream as it passes. Only where that gives the very
 * answer that the provider would have sent: whatever is unknown in a stream makes it none.
 */

import { parseLossless } from '../../json/bounded-json.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject } from '../../json/lossless-json.ts';
import { ANSWER_MAX_BYTES } from './answer-cache.ts';
import { ANSWER_DEPTH_MAX, type AnswerForm } from './cached-stream.ts';

export type Assembler = {
  /** Takes the next bytes of the stream. */
  push(bytes: Uint8Array): void;
  /** The answer as JSON. Null: the stream was not whole, is too large, or says what has no exact other form. */
  end(): Buffer | null;
};

/** An answer under way. */
type Draft = {
  /** False: there is no answer. */
  push(event: LosslessObject): boolean;
  /** Null: something is missing. `isDone`: the stream ended with `[DONE]`. */
  end(isDone: boolean): LosslessObject | null;
};

/** Counts a text that an answer holds, and returns it. */
type Keep = (text: string) => string;

const DRAFTS: Readonly<Record<AnswerForm, (keep: Keep) => Draft>> = {
  chat: createChatDraft,
  responses: createResponseDraft,
  messages: createMessageDraft,
};

/** An event of a whole response repeats its texts. */
const EVENT_MAX_CHARACTERS = 2 * ANSWER_MAX_BYTES;
const DATA = 'data:';

export function assembleAnswer(form: AnswerForm, stream: Uint8Array): Buffer | null {
  const assembler = createAssembler(form);
  assembler.push(stream);
  return assembler.end();
}

export function createAssembler(form: AnswerForm): Assembler {
  const decoder = new TextDecoder();
  let [rest, data] = ['', ''];
  let kept = 0;
  let [isDone, isLost] = [false, false];
  const draft = DRAFTS[form]((text) => {
    kept += text.length;
    isLost ||= kept > ANSWER_MAX_BYTES;
    return text;
  });

  function endEvent(): void {
    const text = data;
    data = '';
    if (text === '[DONE]') isDone = true;
    if (text === '' || text === '[DONE]') return;
    // Of the events of a response only the last one counts.
    if (form === 'responses' && !text.includes('"response.completed"')) return;
    const parsed = parseLossless(text, { depth: ANSWER_DEPTH_MAX });
    if (parsed.kind !== 'value' || !isObject(parsed.value) || !draft.push(parsed.value)) isLost = true;
  }

  function take(text: string): void {
    if (!/[\r\n]/.test(text) && !rest.endsWith('\r')) rest += text;
    else {
      // A line may end with two characters, the second of which is still to come.
      const lines = `${rest}${text}`.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') endEvent();
        else if (line.startsWith(DATA)) data += `${data === '' ? '' : '\n'}${line.slice(DATA.length).trimStart()}`;
        if (isLost) return;
      }
    }
    isLost = rest.length + data.length > EVENT_MAX_CHARACTERS;
  }

  return {
    push(bytes) {
      if (!isLost) take(decoder.decode(bytes, { stream: true }));
    },
    end() {
      if (!isLost) take(`${decoder.decode()}\n\n`);
      const answer = isLost ? null : draft.end(isDone);
      return answer === null ? null : Buffer.from(JSON.stringify(answer));
    },
  };
}

type Members = { [name: string]: LosslessJson };

/** Texts of a message that come in pieces. */
const CHAT_TEXTS: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning']);
const CHOICES_MAX = 128;
const CALLS_MAX = 1024;

type Call = { names: Members; args: string };
type Choice = { message: Members; calls: Call[]; logprobs: Members | null; finishReason: LosslessJson };

function createChatDraft(keep: Keep): Draft {
  const base: Members = {};
  const choices: Choice[] = [];
  let usage: LosslessObject | null = null;

  function pushChoice(sent: LosslessObject): boolean {
    const { index, delta = {}, finish_reason = null, logprobs = null, ...others } = sent;
    if (typeof index !== 'number' || index >= CHOICES_MAX || !isObject(delta) || !areNull(others)) return false;
    const choice = itemAt<Choice>(choices, index, () => ({
      message: {},
      calls: [],
      logprobs: null,
      finishReason: null,
    }));
    if (choice === null) return false;
    choice.finishReason = finish_reason ?? choice.finishReason;
    return pushDelta(choice, delta, keep) && pushLogprobs(choice, logprobs, keep);
  }

  return {
    push(chunk) {
      const { choices: sent, usage: used = null, object: _, obfuscation: __, ...more } = chunk;
      if (!isArray(sent)) return false;
      if (isObject(used)) usage = used;
      for (const [name, value] of Object.entries(more)) {
        base[name] ??= value;
        // Some providers date each chunk.
        if (name !== 'created' && value !== null && !isSame(base[name], value)) return false;
      }
      return sent.every((choice) => isObject(choice) && pushChoice(choice));
    },
    end(isDone) {
      const isWhole = choices.length > 0 && choices.every(({ finishReason }) => finishReason !== null);
      if (!isDone || !isWhole || usage === null) return null;
      return { ...base, object: 'chat.completion', choices: choices.map(toChoice), usage };
    },
  };
}

function pushDelta(choice: Choice, delta: LosslessObject, keep: Keep): boolean {
  const { message, calls } = choice;
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls' && isArray(value)) {
      if (!value.every((call) => isObject(call) && pushCall(calls, call, keep))) return false;
    } else if (CHAT_TEXTS.has(name) && typeof value === 'string') {
      message[name] = `${message[name] ?? ''}${keep(value)}`;
    } else if (name === 'role' && typeof value === 'string') {
      message.role = value;
    } else if (value !== null) {
      return false;
    } else {
      message[name] ??= null;
    }
  }
  return true;
}

function pushCall(calls: Call[], sent: LosslessObject, keep: Keep): boolean {
  const { index, function: called = {}, ...names } = sent;
  if (typeof index !== 'number' || index >= CALLS_MAX || !isObject(called)) return false;
  const { name = null, arguments: args = null, ...others } = called;
  const call = itemAt<Call>(calls, index, () => ({ names: {}, args: '' }));
  if (call === null || !areNull(others)) return false;
  for (const [member, value] of Object.entries({ ...names, name })) {
    if (value === null || value === '') continue;
    call.names[member] ??= value;
    // A call that changes its name says what has no other form.
    if (!isSame(call.names[member], value)) return false;
  }
  if (typeof args === 'string') call.args += keep(args);
  return true;
}

function pushLogprobs(choice: Choice, sent: LosslessJson, keep: Keep): boolean {
  if (sent === null) return true;
  if (!isObject(sent)) return false;
  const all: Members = choice.logprobs ?? {};
  choice.logprobs = all;
  for (const [name, tokens] of Object.entries(sent)) {
    const before = all[name] ?? null;
    if (isArray(tokens)) {
      keep(JSON.stringify(tokens));
      all[name] = [...(isArray(before) ? before : []), ...tokens];
    } else if (tokens === null) all[name] = before;
    else return false;
  }
  return true;
}

function toChoice({ message, calls, logprobs, finishReason }: Choice, index: number): LosslessObject {
  const { role = 'assistant', content = null, ...more } = message;
  const toolCalls = calls.map(({ names: { name = null, ...names }, args }) => ({
    ...names,
    function: { name, arguments: args },
  }));
  const ofCalls = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  return { index, message: { role, content, ...more, ...ofCalls }, logprobs, finish_reason: finishReason };
}

function createResponseDraft(): Draft {
  let response: LosslessObject | null = null;
  return {
    push(event) {
      if (event.type === 'response.completed' && isObject(event.response)) response = event.response;
      return true;
    },
    end: () => response,
  };
}

/** What the deltas of a block add to, by their types. */
const DELTA_TEXTS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
};

type Block = { members: Members; inputJson: string };

function createMessageDraft(keep: Keep): Draft {
  let message: LosslessObject | null = null;
  let isStopped = false;
  const blocks: Block[] = [];

  function pushBlock({ index, content_block: begun }: LosslessObject): boolean {
    if (index !== blocks.length || !isObject(begun)) return false;
    keep(JSON.stringify(begun));
    blocks.push({ members: { ...begun }, inputJson: '' });
    return true;
  }

  function pushDelta({ index, delta }: LosslessObject): boolean {
    const block = typeof index === 'number' ? blocks[index] : undefined;
    if (block === undefined || !isObject(delta)) return false;
    const { members } = block;
    const name = DELTA_TEXTS[String(delta.type)];
    const text = delta[name ?? 'partial_json'];
    if (delta.type === 'citations_delta' && isObject(delta.citation)) {
      keep(JSON.stringify(delta.citation));
      members.citations = [...(isArray(members.citations) ? members.citations : []), delta.citation];
    } else if (typeof text !== 'string') return false;
    else if (name !== undefined) members[name] = `${members[name] ?? ''}${keep(text)}`;
    else if (delta.type === 'input_json_delta') block.inputJson += keep(text);
    else return false;
    return true;
  }

  function pushEnd({ type: _, delta, usage, ...more }: LosslessObject): boolean {
    if (message === null || !isObject(delta) || !isObject(message.usage)) return false;
    const used = Object.entries(isObject(usage) ? usage : {}).filter(([, value]) => value !== null);
    message = { ...message, ...more, ...delta, usage: { ...message.usage, ...Object.fromEntries(used) } };
    return true;
  }

  return {
    push(event) {
      if (event.type === 'message_start' && message === null && isObject(event.message)) message = event.message;
      else if (event.type === 'content_block_start') return pushBlock(event);
      else if (event.type === 'content_block_delta') return pushDelta(event);
      else if (event.type === 'message_delta') return pushEnd(event);
      else if (event.type === 'message_stop') isStopped = true;
      else return event.type === 'ping' || event.type === 'content_block_stop';
      return true;
    },
    end() {
      const content = blocks.map(toBlock);
      const isWhole = isStopped && content.every((block) => block !== null);
      return message === null || !isWhole || (message.stop_reason ?? null) === null ? null : { ...message, content };
    },
  };
}

function toBlock({ members, inputJson }: Block): LosslessObject | null {
  if (inputJson === '') return members;
  const parsed = parseLossless(inputJson, { depth: ANSWER_DEPTH_MAX });
  return parsed.kind === 'value' ? { ...members, input: parsed.value } : null;
}

/** The item of a list, which begins with its first mention. Null: others were left out before it. */
function itemAt<Item>(items: Item[], index: number, begin: () => Item): Item | null {
  if (index === items.length) items.push(begin());
  return items[index] ?? null;
}

function areNull(members: LosslessObject): boolean {
  return Object.values(members).every((value) => value === null);
}

function isSame(one: LosslessJson | undefined, other: LosslessJson): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
