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
import { toContextDrafts } from '../collector/collector-json.ts';
import { toTypedDraft } from '../collector/typed-value.ts';
import { CONTEXTS, DOCUMENTS, INVOCATION, PARAMS } from './attribute-table.ts';
import { first, firstContent, type ReadAttribute, type SpanView } from './span-view.ts';

/** The input or output of a span, from the first of the sources that it has. */
export function typedValueOf(
  view: SpanView,
  side: 'input' | 'output',
  sources: readonly ReadAttribute[],
): TypedDraft | undefined {
  const typed = view.span.attributes.get(`langwatch.${side}`);
  if (!isAbsent(typed)) return toTypedDraft(view.json.parsed(typed), side);
  const value = view.json.parsed(firstContent(view, sources));
  if (value === undefined) return undefined;
  if (typeof value === 'string') return { type: 'text', value, path: side };
  const messages = messagesIn(value);
  return messages === null
    ? { type: 'json', value, path: side }
    : { type: 'chat_messages', value: messages, path: side };
}

/** The chat messages of a value; null: no chat. */
function messagesIn(value: LosslessJson): readonly LosslessJson[] | null {
  const items = isArray(value) ? value : [value];
  return items.length > 0 && items.every(isMessage) ? items.map(withContent) : null;
}

function isMessage(item: LosslessJson): item is LosslessObject {
  if (!isObject(item) || typeof item.role !== 'string') return false;
  const { content } = item;
  return isAbsent(content) || typeof content === 'string' || isArray(content);
}

/** OpenTelemetry conventions call the content of a message `parts`. */
function withContent(message: LosslessObject): LosslessObject {
  const { parts, ...others } = message;
  return isArray(parts) && isAbsent(message.content) ? { ...others, content: parts } : message;
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
    if (!isAbsent(value)) sent = { ...sent, [name]: value };
  }
  const own = json.object(attributes.get('langwatch.params'));
  const invocation = json.object(first(view, INVOCATION));
  if (own === undefined && invocation === undefined) return sent;
  return { ...invocation, ...sent, ...own };
}
