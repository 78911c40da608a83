/** The input, output, contexts and parameters of a span. */

import { isAbsent, isArray, isObject } from '../../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import {
  type ContextDraft,
  type DraftList,
  type Sent,
  type TypedDraft,
  unreadable,
} from '../collector/collector-draft.ts';
import { isBlank, toContextDrafts, toFigure } from '../collector/collector-json.ts';
import { toTypedDraft } from '../collector/typed-value.ts';
import type { AttributeJson } from './attribute-json.ts';
import {
  CONTEXTS,
  DOCUMENTS,
  GATEWAY_REQUEST_ID,
  INPUT,
  INSTRUCTIONS,
  INVOCATION,
  OUTPUT,
  OWN_PARAMS,
  PARAMS,
  TYPED,
} from './attribute-table.ts';
import { instructionsIn, leadWith, messagesIn } from './messages.ts';
import { first, firstContent, type Source, type SpanView } from './span-view.ts';

/** The input of a span. Instructions that it has beside its messages lead them. */
export function inputOf(view: SpanView): TypedDraft | undefined {
  const input = typedValueOf(view, 'input', INPUT);
  const instructions = input === undefined ? undefined : instructionsOf(view);
  return input === undefined || instructions === undefined ? input : leadWith(instructionsIn(instructions), input);
}

export function outputOf(view: SpanView): TypedDraft | undefined {
  return typedValueOf(view, 'output', OUTPUT);
}

/** From the first of the sources that says something; a blank one counts where no other says anything. */
function typedValueOf(view: SpanView, side: 'input' | 'output', sources: readonly Source[]): TypedDraft | undefined {
  const { json } = view;
  const typed = view.span.attributes.get(TYPED[side]);
  if (!isBlank(typed)) return toTypedDraft(json.parsed(typed), side);
  const value = json.parsed(firstContent(view, sources));
  if (isAbsent(value)) return isAbsent(typed) ? undefined : toTypedDraft(typed, side);
  if (typeof value === 'string') return { type: 'text', value, path: side };
  const messages = json.fitsMessages(value) ? messagesIn(value) : null;
  return messages === null
    ? { type: 'json', value, path: side }
    : { type: 'chat_messages', value: messages, path: side };
}

/** What the model was told beside the messages. */
function instructionsOf(view: SpanView): LosslessJson | undefined {
  const sent = view.json.parsed(first(view, INSTRUCTIONS));
  return isBlank(sent) || !view.json.fitsMessages(sent) ? undefined : sent;
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

export function paramsOf(view: SpanView): LosslessObject | undefined {
  const {
    span: { attributes },
    json,
  } = view;
  let sent: LosslessObject | undefined;
  for (const [key, name] of PARAMS) {
    const value = attributes.get(key);
    if (!isBlank(value)) sent = { ...sent, [name]: typeof value === 'string' ? parameterIn(value, json) : value };
  }
  const params = json.object(attributes.get(OWN_PARAMS));
  const invocation = json.object(first(view, INVOCATION));
  const id = attributes.get(GATEWAY_REQUEST_ID);
  if (!isAbsent(id)) sent = { ...sent, [GATEWAY_REQUEST_ID]: id };
  if (params === undefined && invocation === undefined) return sent;
  return { ...invocation, ...sent, ...params };
}

/** Some write every value as text. */
function parameterIn(text: string, json: AttributeJson): LosslessJson {
  if (text === 'true' || text === 'false') return text === 'true';
  const figure = toFigure(text, '');
  return typeof figure === 'number' ? figure : (json.parsed(text) ?? text);
}
