/**
 * A cached answer as a stream: the Server-Sent Events that the provider would send, with each text in one piece. Clients put
 * the very answer together from them.
 */

import { parseLossless } from '../../json/bounded-json.ts';
import { isArray, isObject, type LosslessJson, type LosslessObject, readMember } from '../../json/lossless-json.ts';

/** The routes whose answers may stream. */
export type AnswerForm = 'chat' | 'responses' | 'messages';

export const ANSWER_DEPTH_MAX = 128;

/** `includesUsage`: a stream of chat asks for its usage. Null: the body is not a finished answer of this form. */
export function streamAnswer(
  form: AnswerForm,
  body: Buffer,
  { includesUsage }: { readonly includesUsage: boolean },
): Buffer | null {
  const parsed = parseLossless(body.toString(), { depth: ANSWER_DEPTH_MAX });
  if (parsed.kind !== 'value' || !isObject(parsed.value)) return null;
  if (form === 'chat') {
    const chunks = toChunks(parsed.value, includesUsage);
    return chunks && Buffer.from(`${chunks.map(toData).join('')}data: [DONE]\n\n`);
  }
  const events = form === 'responses' ? toResponseEvents(parsed.value) : toMessageEvents(parsed.value);
  return events && Buffer.from(events.map((event) => `event: ${event.type}\n${toData(event)}`).join(''));
}

function toData(event: LosslessObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** The objects of a list; null: it is none, or has something else. */
function objectsIn(list: LosslessJson | undefined): readonly LosslessObject[] | null {
  return isArray(list) && list.every(isObject) ? (list as readonly LosslessObject[]) : null;
}

function toChunks(answer: LosslessObject, includesUsage: boolean): readonly LosslessObject[] | null {
  const { choices: list, usage = null, object: _, ...base } = answer;
  const choices = objectsIn(list);
  if (choices === null || choices.length === 0) return null;
  const common = { ...base, object: 'chat.completion.chunk' };
  const whileOpen = includesUsage ? { usage: null } : {};
  const chunks: LosslessObject[] = [];
  for (const choice of choices) {
    const parts = toChoices(choice);
    if (parts === null) return null;
    for (const part of parts) chunks.push({ ...common, choices: [part], ...whileOpen });
  }
  return includesUsage ? [...chunks, { ...common, choices: [], usage }] : chunks;
}

function toChoices(choice: LosslessObject): readonly LosslessObject[] | null {
  const { message, index = null, finish_reason = null, logprobs = null, ...others } = choice;
  if (!isObject(message)) return null;
  const { content = null, tool_calls: list = null, ...more } = message;
  const calls = list === null ? [] : objectsIn(list);
  if (calls === null || !(content === null || typeof content === 'string')) return null;
  const isText = content !== null && content !== '';
  const open = (delta: LosslessObject, ofTokens: LosslessJson = null): LosslessObject => ({
    ...{ index, delta, logprobs: ofTokens, finish_reason: null },
  });
  return [
    open({ ...more, content: content === null ? null : '' }, isText ? null : logprobs),
    ...(isText ? [open({ content }, logprobs)] : []),
    ...calls.map((call, position) => open({ tool_calls: [{ index: position, ...call }] })),
    { index, delta: {}, logprobs: null, finish_reason, ...others },
  ];
}

type Event = LosslessObject & { readonly type: string };

const RESPONSE_ENDS: ReadonlySet<LosslessJson> = new Set(['completed', 'incomplete', 'failed']);

function toResponseEvents(response: LosslessObject): readonly Event[] | null {
  const status = readMember(response, 'status');
  const items = objectsIn(readMember(response, 'output'));
  if (items === null || !RESPONSE_ENDS.has(status)) return null;
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(toItemEvents),
    { type: `response.${String(status)}`, response },
  ];
  return events.map((event, position) => ({ ...event, sequence_number: position }));
}

/** An item begins without its texts, which come in events of their own. */
function toItemEvents(item: LosslessObject, output_index: number): readonly Event[] {
  const place = { item_id: readMember(item, 'id'), output_index };
  const { begun, events } = toOpenItem(item, place);
  const open = item.status === undefined ? begun : { ...begun, status: 'in_progress' };
  return [
    { type: 'response.output_item.added', output_index, item: open },
    ...events,
    { type: 'response.output_item.done', output_index, item },
  ];
}

type OpenItem = { readonly begun: LosslessObject; readonly events: readonly Event[] };

function toOpenItem(item: LosslessObject, place: LosslessObject): OpenItem {
  const text = (member: string, name: string): OpenItem => ({
    begun: { ...item, [member]: '' },
    events: toTextEvents(name, { member, text: item[member] ?? '', ...place }),
  });
  if (item.type === 'function_call') return text('arguments', 'function_call_arguments');
  if (item.type === 'mcp_call') return text('arguments', 'mcp_call_arguments');
  if (item.type === 'custom_tool_call') return text('input', 'custom_tool_call_input');
  const [content, summary] = [objectsIn(item.content), objectsIn(item.summary)];
  if (item.type === 'message' && content !== null) {
    return {
      begun: { ...item, content: [] },
      events: content.flatMap((part, content_index) => toPartEvents(part, { ...place, content_index })),
    };
  }
  if (item.type === 'reasoning' && summary !== null && content === null) {
    return {
      begun: { ...item, summary: [] },
      events: summary.flatMap((part, summary_index) => toSummaryEvents(part, { ...place, summary_index })),
    };
  }
  return { begun: item, events: [] };
}

function toPartEvents(part: LosslessObject, place: LosslessObject): readonly Event[] {
  const isRefusal = part.type === 'refusal';
  const member = isRefusal ? 'refusal' : 'text';
  const annotations = isArray(part.annotations) ? part.annotations : [];
  const logprobs = isRefusal ? {} : { logprobs: part.logprobs ?? [] };
  return [
    {
      type: 'response.content_part.added',
      ...place,
      part: { ...part, [member]: '', ...(isRefusal ? {} : { annotations: [] }) },
    },
    ...toTextEvents(isRefusal ? 'refusal' : 'output_text', { member, text: part[member] ?? '', ...place, ...logprobs }),
    ...annotations.map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...{ ...place, annotation_index, annotation },
    })),
    { type: 'response.content_part.done', ...place, part },
  ];
}

function toSummaryEvents(part: LosslessObject, place: LosslessObject): readonly Event[] {
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    ...toTextEvents('reasoning_summary_text', { member: 'text', text: part.text ?? '', ...place }),
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ];
}

type Told = LosslessObject & { readonly member: string; readonly text: LosslessJson };

function toTextEvents(name: string, { member, text, ...place }: Told): readonly Event[] {
  return [
    { type: `response.${name}.delta`, ...place, delta: text },
    { type: `response.${name}.done`, ...place, [member]: text },
  ];
}

function toMessageEvents(message: LosslessObject): readonly Event[] | null {
  const { stop_reason = null, stop_sequence = null, usage } = message;
  const blocks = objectsIn(message.content);
  if (blocks === null || !isObject(usage) || stop_reason === null) return null;
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return [
    { type: 'message_start', message: { ...begun, usage: { ...usage, output_tokens: 0 } } },
    ...blocks.flatMap(toBlockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ];
}

function toBlockEvents(block: LosslessObject, index: number): readonly Event[] {
  const { begun, deltas } = toOpenBlock(block);
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

type OpenBlock = { readonly begun: LosslessObject; readonly deltas: readonly LosslessObject[] };

/** A block begins without what comes in deltas. Blocks of other types come whole, as results of the provider's tools do. */
function toOpenBlock(block: LosslessObject): OpenBlock {
  if (block.type === 'text') {
    const citations = isArray(block.citations) ? block.citations : null;
    return {
      begun: { ...block, text: '', ...(citations === null ? {} : { citations: [] }) },
      deltas: [
        { type: 'text_delta', text: block.text ?? '' },
        ...(citations ?? []).map((citation) => ({ type: 'citations_delta', citation })),
      ],
    };
  }
  if (block.type === 'thinking') {
    const { thinking = '', signature = '' } = block;
    return {
      begun: { ...block, thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking },
        { type: 'signature_delta', signature },
      ],
    };
  }
  if (!TOOL_BLOCKS.has(block.type ?? null)) return { begun: block, deltas: [] };
  const partial_json = JSON.stringify(block.input ?? {});
  return { begun: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] };
}

const TOOL_BLOCKS: ReadonlySet<LosslessJson> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);
