/** Collects the texts of an answer that no reader of its dialect takes, so that guardrails judge all that the caller would get. */

import { JSON_DEPTH_MAX } from '../../../json/json-text.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject } from '../../../json/lossless-json.ts';
import type { TypedInput } from './dialect.ts';

const OTHERS_MAX_BYTES = 1024 * 1024;
/** Texts that come in pieces. */
const PIECED_MAX = 1_024;
/** Looking for more would hold the event loop. */
const COMPARED_MAX_CHARACTERS = 64 * 1024 * 1024;

/** Where a value stands. */
type Place = {
  readonly name: string;
  readonly path: string;
  /** Whether it is the answer itself or a part that the dialects define: their members include names of states. */
  readonly isFrame: boolean;
  readonly isPiece: boolean;
};

const ROOT: Place = { name: '', path: '', isFrame: true, isPiece: false };

export type OtherTexts = ReturnType<typeof createOtherTexts>;

export function createOtherTexts() {
  /** Of the current event: the output has it. */
  const taken = new Set<LosslessJson>();
  const texts = new Set<string>();
  const pieced = new Map<string, string>();
  let bytes = 0;
  let isWhole = true;

  function add(text: string, { path, isPiece }: Place): void {
    if (text === '' || (!isPiece && texts.has(text))) return;
    bytes += Buffer.byteLength(text);
    const isNew = isPiece && !pieced.has(path);
    if (bytes > OTHERS_MAX_BYTES || (isNew && pieced.size >= PIECED_MAX)) isWhole = false;
    else if (isPiece) pieced.set(path, `${pieced.get(path) ?? ''}${text}`);
    else texts.add(text);
  }

  function collect(value: LosslessJson, place: Place, depth: number): void {
    if (taken.has(value)) return;
    if (typeof value === 'string') {
      if (!isBinary(place.name, value)) add(value, place);
    } else if (depth > JSON_DEPTH_MAX) isWhole = false;
    else if (isArray(value)) {
      const inside = { ...place, isPiece: false };
      for (const item of value) collect(item, inside, depth + 1);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (!isState(name, place)) collect(member, placeOf(name, place), depth + 1);
      }
    }
  }

  return {
    /** The output has this part of the current event. */
    take(value: LosslessJson | undefined): void {
      if (value !== undefined) taken.add(value);
    },
    /** Collects the rest of the current event. */
    endEvent(event: LosslessObject): void {
      const type = typeof event.type === 'string' ? event.type : '';
      if (!AUDIO_EVENT.test(type)) collect(event, { ...ROOT, path: type }, 0);
      taken.clear();
    },
    /** Whether all were kept. */
    isWhole: () => isWhole,
    /** Those that none of the texts has: streams repeat at their end what came in pieces. */
    beside(output: readonly string[]): readonly string[] {
      const others = [...texts, ...pieced.values()];
      const characters = output.reduce((sum, { length }) => sum + length, 0);
      if (others.length * characters > COMPARED_MAX_CHARACTERS) return others;
      return others.filter((other) => !output.some((text) => text.includes(other)));
    },
  };
}

/** An output with the texts beside it, as guardrails judge it. */
export function withOthers(output: TypedInput | null, others: readonly string[]): TypedInput | null {
  if (others.length === 0) return output;
  return { type: 'json', value: output === null ? others : [output.value, ...others] };
}

function placeOf(name: string, { name: parent, path, isFrame }: Place): Place {
  return {
    name,
    path: `${path}.${name}`,
    isFrame: isFrame && FRAMES.has(name),
    isPiece: name === 'delta' || parent === 'delta',
  };
}

/** Members of an answer that hold the parts of it. */
const FRAMES: ReadonlySet<string> = new Set([
  ...['choices', 'message', 'delta', 'tool_calls', 'function', 'custom', 'function_call', 'audio', 'data'],
  ...['response', 'output', 'item', 'part', 'content', 'content_block', 'summary'],
]);

const STATES: ReadonlySet<string> = new Set([
  ...['id', 'object', 'role', 'status', 'phase', 'model', 'provider', 'service_tier', 'system_fingerprint', 'x_groq'],
  ...['finish_reason', 'native_finish_reason', 'stop_reason', 'stop_sequence', 'container', 'usage', 'obfuscation'],
  // Tokens of the text, and words of filters for it.
  ...['logprobs', 'content_filter_results', 'prompt_filter_results'],
]);

/** Whether a member says how an answer came to be, and nothing of what it says. */
function isState(name: string, { isFrame }: Place): boolean {
  return name === 'type' || (isFrame && (STATES.has(name) || name.endsWith('_id')));
}

/** Members that only their provider reads, or a program. */
const OPAQUE: ReadonlySet<string> = new Set([
  ...['signature', 'thought_signature', 'encrypted_content', 'encrypted_index', 'encrypted_stdout'],
  ...['embedding', 'b64_json', 'partial_image_b64'],
]);
/** Members that may have an image, a sound or a file; others have texts by these names. */
const MEDIA: ReadonlySet<string> = new Set(['data', 'result', 'url', 'image_url']);
const BASE64 = /^[\w+/=-]+$/;
const LONG_BASE64 = /^(data:[\w.+/;=-]{1,200};base64,)?[\w+/=-]{64,}$/;
const AUDIO_EVENT = /audio\.delta$/;

function isBinary(name: string, text: string): boolean {
  return OPAQUE.has(name) ? BASE64.test(text) : MEDIA.has(name) && LONG_BASE64.test(text);
}
