/** The input, output, contexts and parameters of a span. */

import { isAbsent, isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import {
  type ContextDraft,
  type DraftList,
  isUnreadable,
  type Sent,
  type TypedDraft,
  type Unreadable,
  unreadable,
} from '../collector/collector-draft.ts';
import { isBlank, toContextDrafts, toFigure } from '../collector/collector-json.ts';
import { toTypedDraft } from '../collector/typed-value.ts';
import { type AttributeJson, objectIn } from './attribute-json.ts';
import {
  CONTEXTS,
  DOCUMENTS,
  GATEWAY_REQUEST_ID,
  INPUT,
  INSTRUCTIONS,
  INVOCATION,
  INVOCATION_PARAMS,
  NUMERIC_PARAMS,
  OUTPUT,
  OWN_PARAMS,
  PARAMS,
  TYPED,
} from './attribute-table.ts';
import { withoutQuotes } from './conventions/sources.ts';
import { instructionsIn, leadWith, messagesIn } from './messages.ts';
import { first, firstContent, type Source, type SpanView } from './span-view.ts';

/** The input of a span. Instructions that it has beside its messages lead them, or stand alone. */
export function inputOf(view: SpanView): TypedDraft | undefined {
  const input = typedValueOf(view, 'input', INPUT);
  const instructions = instructionsOf(view);
  if (instructions.length === 0) return input;
  return input === undefined
    ? { type: 'chat_messages', value: instructions, path: 'input' }
    : leadWith(instructions, input);
}

export function outputOf(view: SpanView): TypedDraft | undefined {
  return typedValueOf(view, 'output', OUTPUT);
}

/** From the first of the sources that says something; a blank one counts where no other says anything. */
function typedValueOf(view: SpanView, side: 'input' | 'output', sources: readonly Source[]): TypedDraft | undefined {
  const { json } = view;
  const typed = view.span.attributes.get(TYPED[side]);
  if (!isBlank(typed)) return toTypedDraft(withoutQuotes(json.parsed(typed)), side);
  const value = json.parsed(firstContent(view, sources));
  if (isAbsent(value)) return isAbsent(typed) ? undefined : toTypedDraft(typed, side);
  if (typeof value === 'string') return { type: 'text', value, path: side };
  const messages = json.fitsMessages(value) ? messagesIn(value) : null;
  return messages === null
    ? { type: 'json', value, path: side }
    : { type: 'chat_messages', value: messages, path: side };
}

/** What the model was told beside the messages. */
function instructionsOf(view: SpanView): readonly LosslessObject[] {
  const sent = view.json.parsed(first(view, INSTRUCTIONS));
  return isAbsent(sent) || !view.json.fitsMessages(sent) ? [] : instructionsIn(sent);
}

export function contextsOf(view: SpanView): Sent<DraftList<ContextDraft>> {
  const sent = view.json.parsed(first(view, CONTEXTS));
  if (!isAbsent(sent)) return toContextDrafts(isObject(sent) && !isAbsent(sent.value) ? sent.value : sent);
  const documents = DOCUMENTS(view);
  return isArray(documents) ? documents.map(documentOf) : undefined;
}

function documentOf(document: LosslessJson, index: number): Sent<ContextDraft> {
  if (!isObject(document)) return unreadable(`contexts[${index}]`, 'must be an object');
  const { id, content } = document;
  return {
    documentId: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    chunkId: undefined,
    // Some retrievers report only the ids of documents.
    content: content ?? '',
  };
}

export type ParamsRead = {
  readonly params: LosslessObject | undefined;
  /** What stands in the place of an object of parameters. */
  readonly dropped: readonly Unreadable[];
};

export function paramsOf(view: SpanView): ParamsRead {
  const {
    span: { attributes },
    json,
  } = view;
  let sent: LosslessObject | undefined;
  for (const [key, name] of PARAMS) {
    const value = attributes.get(key);
    if (isBlank(value)) continue;
    sent = { ...sent, [name]: typeof value === 'string' ? parameterIn(value, { name, json }) : value };
  }
  const id = attributes.get(GATEWAY_REQUEST_ID);
  if (!isAbsent(id)) sent = { ...sent, [GATEWAY_REQUEST_ID]: id };
  const own = objectIn(attributes, { key: OWN_PARAMS, field: 'params', json });
  const asked = objectIn(attributes, { key: INVOCATION_PARAMS, field: 'params', json });
  const dropped = [own, asked].filter(isUnreadable);
  const invocation = json.object(first(view, INVOCATION));
  const params = isUnreadable(own) ? undefined : own;
  if (params === undefined && invocation === undefined) return { params: sent, dropped };
  return { params: { ...invocation, ...sent, ...params }, dropped };
}

/** Some write every value as text. */
function parameterIn(text: string, { name, json }: { name: string; json: AttributeJson }): LosslessJson {
  const figure = NUMERIC_PARAMS.has(name) ? toFigure(text, '') : undefined;
  if (typeof figure === 'number' && isExact(figure, text)) return figure;
  if (name === 'stream' && (text === 'true' || text === 'false')) return text === 'true';
  return json.parsed(text) ?? text;
}

/** A double holds every number of so many digits. */
const EXACT_DIGITS_MAX = 15;

/** Whether a number is the one that a text has, to the last digit. */
function isExact(figure: number, text: string): boolean {
  return text.replace(/\D/g, '').length <= EXACT_DIGITS_MAX || String(figure) === text;
}
