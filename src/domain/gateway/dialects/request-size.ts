/** How large a request is, as far as its body tells. */

import {
  isArray,
  isObject,
  type LosslessJson,
  type LosslessObject,
  readMember,
  stringifyLossless,
} from '../../../json/lossless-json.ts';
import { type BodySize, type Dialect, dialectOf, type RouteKind } from './dialect.ts';

type Limits = Pick<BodySize, 'choices' | 'outputTokensMax'>;

/** Adds what the model reads, and finds what nothing bounds. Member names count: models read them, or their like. */
export function sizeOf(route: RouteKind, body: LosslessObject, limits: Limits): BodySize {
  const unbounded = new Set<string>();
  const total: Total = { textBytes: 0, arrayTokens: 0 };
  for (const name of Object.keys(body)) {
    const value = readMember(body, name);
    if (UNREAD.has(name) || typeof value === 'number' || typeof value === 'boolean') continue;
    const isTokens = route === 'embeddings' && name === 'input';
    addText(value, total, isTokens);
    if (MEDIA_HOLDERS.has(name)) findMedia(value, dialectOf(route), unbounded);
    if (UNBOUNDED[route].has(name) && isSent(value)) unbounded.add(name);
    if (route === 'responses' && name === 'input' && isArray(value) && value.some(isReference)) {
      unbounded.add('item_reference');
    }
    if (name === 'tools') total.textBytes += findProviderTools(value, route, unbounded);
  }
  return { ...total, ...limits, unboundedParams: [...unbounded] };
}

type Total = { textBytes: number; arrayTokens: number };

/** Top-level members that no model reads. */
const UNREAD: ReadonlySet<string> = new Set([
  ...['model', 'metadata', 'user', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'],
  ...['logit_bias', 'stop', 'stop_sequences', 'stream_options', 'service_tier', 'inference_geo'],
  ...[
    'include',
    'reasoning',
    'thinking',
    'moderation',
    'modalities',
    'encoding_format',
    'reasoning_effort',
    'verbosity',
    'truncation',
    'tool_choice',
  ],
]);

/** Members that refer to what the provider holds, or make it add to the input. */
const UNBOUNDED: { readonly [route in RouteKind]: ReadonlySet<string> } = {
  chat: new Set(['web_search_options']),
  responses: new Set(['previous_response_id', 'prompt', 'conversation', 'context_management']),
  embeddings: new Set(),
  messages: new Set(['container', 'mcp_servers', 'context_management']),
  count_tokens: new Set(),
};

export function isSent(value: LosslessJson): boolean {
  return value !== null && !(isArray(value) && value.length === 0);
}

/** Adds strings, member names, and numbers, which are tokens in `isTokens`. */
function addText(value: LosslessJson, total: Total, isTokens: boolean): void {
  if (typeof value === 'string') total.textBytes += Buffer.byteLength(value);
  else if (isArray(value)) {
    // Without an iterator: a list of tokens may have millions.
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index] ?? null;
      if (isTokens && typeof item === 'number') total.arrayTokens += 1;
      else addText(item, total, isTokens);
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      total.textBytes += Buffer.byteLength(name);
      addText(readMember(value, name), total, false);
    }
  } else if (value !== null) total.textBytes += stringifyLossless(value).length;
}

/** Members whose parts may be media. */
const MEDIA_HOLDERS: ReadonlySet<string> = new Set(['messages', 'input', 'system', 'instructions']);
const REFERRED_ITEMS: ReadonlySet<LosslessJson> = new Set(['item_reference', 'image_generation_call']);
const URLS = ['image_url', 'video_url', 'audio_url', 'file_url'] as const;
const INLINE = /^data:/i;
const TOOL_USES: ReadonlySet<LosslessJson> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

/** Media by URL, and what refers to files, audio and items that the provider holds. */
function findMedia(value: LosslessJson, dialect: Dialect, unbounded: Set<string>): void {
  if (isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (typeof item === 'object' && item !== null) findMedia(item, dialect, unbounded);
    }
    return;
  }
  if (!isObject(value)) return;
  const type = readMember(value, 'type');
  if (isSent(readMember(value, 'file_id'))) unbounded.add('file_id');
  if (dialect === 'openai') {
    if (REFERRED_ITEMS.has(type)) unbounded.add('item_reference');
    for (const name of URLS) if (isElsewhere(readMember(value, name))) unbounded.add(name);
    const audio = readMember(value, 'audio');
    if (isObject(audio) && isSent(readMember(audio, 'id'))) unbounded.add('audio');
  } else {
    const source = readMember(value, 'source');
    if (isObject(source) && (readMember(source, 'type') === 'url' || isSent(readMember(source, 'url')))) {
      unbounded.add('source.url');
    }
  }
  for (const name of Object.keys(value)) {
    const member = readMember(value, name);
    // The input of a call is text, whatever its members are called.
    if (typeof member !== 'object' || (name === 'input' && TOOL_USES.has(type))) continue;
    findMedia(member, dialect, unbounded);
  }
}

/** The type of a reference may be left out. */
function isReference(item: LosslessJson): boolean {
  if (!isObject(item) || !isSent(readMember(item, 'id'))) return false;
  return readMember(item, 'type') === null && readMember(item, 'role') === null;
}

function isElsewhere(reference: LosslessJson): boolean {
  const url = isObject(reference) ? readMember(reference, 'url') : reference;
  return typeof url === 'string' && url !== '' && !INLINE.test(url);
}

/** Tools that the caller runs, and whose results it sends. */
const OWN_TOOLS: ReadonlySet<LosslessJson> = new Set(['function', 'custom', 'local_shell', 'apply_patch']);
const ANTHROPIC_OWN_TOOLS = /^(custom|(bash|text_editor|computer|memory)_[0-9]{8})$/;
/** More than the prompt that Anthropic adds to requests with tools, in tokens. */
const TOOLS_PROMPT_BYTES = 1_024;
/** As TOOLS_PROMPT_BYTES, for each tool that Anthropic defines. */
const DEFINED_TOOL_BYTES = 1_024;

/** Whether the caller runs the tool: the provider only asks for it. */
export function isOwnTool(tool: LosslessJson, dialect: Dialect): boolean {
  const type = typeOf(tool);
  if (dialect === 'openai') return OWN_TOOLS.has(type);
  return isDefaultTool(type) || (typeof type === 'string' && ANTHROPIC_OWN_TOOLS.test(type));
}

function typeOf(tool: LosslessJson): LosslessJson {
  return isObject(tool) ? readMember(tool, 'type') : null;
}

function isDefaultTool(type: LosslessJson): boolean {
  return type === null || type === 'custom';
}

/** Returns the bytes that stand for what the provider adds for the tools. */
function findProviderTools(tools: LosslessJson, route: RouteKind, unbounded: Set<string>): number {
  if (!isArray(tools)) {
    if (tools !== null) unbounded.add('tools');
    return 0;
  }
  const dialect = dialectOf(route);
  const isAnthropic = dialect === 'anthropic';
  let defined = 0;
  for (const [index, tool] of tools.entries()) {
    if (isAnthropic && !isDefaultTool(typeOf(tool))) defined += 1;
    if (isOwnTool(tool, dialect)) continue;
    unbounded.add(`tools[${index}]`);
    break;
  }
  return isAnthropic && tools.length > 0 ? TOOLS_PROMPT_BYTES + defined * DEFINED_TOOL_BYTES : 0;
}
