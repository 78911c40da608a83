/** Reads the first members of a stored envelope. */

import type { LogEntry } from '../../domain/delivery/webhook-store.ts';

export type EnvelopeHead = Pick<LogEntry, 'id' | 'type' | 'createdAtMs'>;

// envelope() always writes the members in this order.
const HEAD = /^\{"id":("(?:[^"\\]|\\.)*"),"type":"([^"]*)","created":"([^"]*)"/;

/** Parses only the head: the data of an event can be large. */
export function readEnvelopeHead(envelope: string): EnvelopeHead {
  const [, id, type, created] = HEAD.exec(envelope) ?? [];
  if (id === undefined || type === undefined || created === undefined) throw new Error('a stored envelope is none');
  return { id: JSON.parse(id), type, createdAtMs: Date.parse(created) };
}
