/** Reads the event log over REST, as consumers do, and checks it. */

import { ADMIN_KEY } from './server.ts';
import { type Answer, type Body, callRest } from './surfaces.ts';

export type LoggedEvent = { readonly id: string; readonly created: string; readonly data: Body };

export type Walk = {
  /** Called before every page: the server may change in between. */
  readonly address: () => string;
  readonly limit?: number;
  /** Epoch milliseconds. */
  readonly from?: number;
  /** Called with the number of pages so far, before the next one is read. */
  readonly betweenPages?: (pages: number) => Promise<void>;
};

/** Later than anything that a test appends. */
export const FAR_AHEAD = Date.now() + 86_400_000;
export const LIMIT_MAX = 200;

/** Every event since `from`, in the order of the pages. */
export async function walkLog({ address, limit = LIMIT_MAX, from = 0, betweenPages }: Walk): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  let cursor = '';
  for (let pages = 1; ; pages += 1) {
    const { status, text, body } = await readPage(address(), { from, limit, cursor });
    if (status !== 200) throw new Error(`a page of the log was answered ${status}: ${text}`);
    events.push(...body.data);
    if (body.next_cursor === null) return events;
    cursor = body.next_cursor;
    await betweenPages?.(pages);
  }
}

export type PageQuestion = { readonly from: number; readonly limit: number; readonly cursor: string };

export function readPage(address: string, { from, limit, cursor }: PageQuestion): Promise<Answer> {
  return callRest(address, {
    path: `/api/webhooks/v1/events?from=${from}&to=${FAR_AHEAD}&limit=${limit}&cursor=${encodeURIComponent(cursor)}`,
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
}

/** Whether events are newest first, with ids of equal instants descending by bytes. */
export function isNewestFirst(events: readonly LoggedEvent[]): boolean {
  return events.every((event, index) => {
    const above = events[index - 1];
    if (above === undefined || above.created > event.created) return true;
    return above.created === event.created && Buffer.compare(Buffer.from(above.id), Buffer.from(event.id)) > 0;
  });
}

/** The number of repeated items. */
export function countRepeats<T>(items: readonly T[]): number {
  return items.length - new Set(items).size;
}

export type Audit = {
  /** Traces without an event. */
  readonly lost: number;
  /** Events beyond the first of a trace. */
  readonly repeated: number;
};

/** Counts missing and repeated events of traces with one span. */
export function auditLog(events: readonly LoggedEvent[], traceIds: readonly string[]): Audit {
  const logged = events.map((event): string => event.data.trace_id);
  const known = new Set(logged);
  return { lost: traceIds.filter((traceId) => !known.has(traceId)).length, repeated: countRepeats(logged) };
}
