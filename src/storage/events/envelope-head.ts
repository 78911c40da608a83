/** What the beginning of an envelope says. */

import type { LogEntry } from '../../domain/webhook-store.ts';

export type EnvelopeHead = Pick<LogEntry, 'id' | 'type' | 'createdAtMs'>;

// As envelope() writes it: the members always come in this order.
const HEAD = /^\{"id":("(?:[^"\\]|\\.)*"),"type":"([^"]*)","created":"([^"]*)"/;

/** Reads no further than needed: the data of an event can be large. */
export function readEnvelopeHead(envelope: string): EnvelopeHead {
  const [, id, type, created] = HEAD.exec(envelope) ?? [];
  if (id === undefined || type === undefined || created === undefined) throw new Error('a stored envelope is none');
  return { id: JSON.parse(id), type, createdAtMs: Date.parse(created) };
}
