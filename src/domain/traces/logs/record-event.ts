/** Log records as events of a span. */

import { isObject } from '../../../json/free-json.ts';
import type { LosslessJson } from '../../../json/lossless-json.ts';
import { isEvaluationEvent } from '../otlp/batch.ts';
import { tellsOfCall } from '../otlp/conventions/coding-agents.ts';
import type { OtlpRecord } from '../otlp/log-record.ts';
import { isMessageEvent } from '../otlp/message-events.ts';
import type { Attributes, OtlpEvent } from '../otlp/span.ts';

/** The event of a failure, which instrumentations write into the log instead of the span. */
const EXCEPTION = 'exception';

/** Whether an event of this name tells something of its span: most lines of a log do not. */
export function tellsOfSpan(name: string): boolean {
  if (name.startsWith('gen_ai.') || name === EXCEPTION) return true;
  return isMessageEvent({ name }) || isEvaluationEvent(name) || tellsOfCall(name);
}

export function toEvent(record: OtlpRecord, name: string): OtlpEvent {
  return { name, timeNano: record.timeNano, attributes: eventAttributes(record, name) };
}

/** Events of spans have no body: its members are attributes, unless the record has those, and a text is content. */
export function eventAttributes({ body, attributes }: OtlpRecord, name: string): Attributes {
  if (isObject(body)) return new Map<string, LosslessJson>([...Object.entries(body), ...attributes]);
  const isContent = typeof body === 'string' && body !== name && isMessageEvent({ name });
  return isContent && !attributes.has('content') ? new Map([...attributes, ['content', body]]) : attributes;
}
