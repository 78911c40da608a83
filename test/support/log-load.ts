/** Appends events while tests walk the log, and checks the walks. */

import { setTimeout as delay } from 'node:timers/promises';
import { hex } from './fixtures.ts';
import { isFullTier } from './scenario.ts';
import { createTraceSender, startLoad, type TraceSender } from './trace-sender.ts';
import { countRepeats, isNewestFirst, LIMIT_MAX, type LoggedEvent, readPage, walkLog } from './walk-log.ts';

export type Appending = {
  /** Ids of acknowledged events so far. */
  readonly appended: readonly string[];
  readonly sender: TraceSender;
  /** Stops; resolves to events per second. */
  stop(): Promise<number>;
};

export type AppendingOptions = { readonly addresses: () => readonly string[]; readonly eventsPerSecond: number };

const CLIENTS = 4;
// Stored together, their events share an instant.
const EVENTS_PER_REQUEST = 20;

/** Appends at that rate, or as fast as possible. */
export function startAppending({ addresses, eventsPerSecond }: AppendingOptions): Appending {
  const sender = createTraceSender({ addresses });
  const appended: string[] = [];
  const startedMs = performance.now();
  const gapMs = (1_000 * EVENTS_PER_REQUEST) / eventsPerSecond;
  let requests = 0;
  const load = startLoad(CLIENTS, async () => {
    const dueMs = startedMs + requests * gapMs;
    requests += 1;
    await delay(Math.max(0, dueMs - performance.now()));
    const ids = Array.from({ length: EVENTS_PER_REQUEST }, () => hex(16));
    await sender.send(traceOf(ids));
    appended.push(...ids.map((id) => `${id}:completed`));
  });
  return {
    appended,
    sender,
    async stop() {
      await load.stop();
      return Math.round((appended.length * 1_000) / (performance.now() - startedMs));
    },
  };
}

/** A trace with one span, so one event, per request. */
function traceOf(requestIds: readonly string[]) {
  const nowMs = Date.now();
  return {
    trace_id: hex(32),
    spans: requestIds.map((id) => ({
      span_id: id,
      type: 'llm',
      model: 'gpt-5-mini',
      params: { gateway_request_id: id },
      timestamps: { started_at: nowMs, finished_at: nowMs },
    })),
  };
}

export type Walks = {
  readonly walked: number;
  /** Events that existed before a walk but were missing in it. */
  readonly lost: number;
  /** Events returned more than once. */
  readonly repeated: number;
  /** Walks that were not newest first. */
  readonly disordered: number;
  readonly restarts: number;
  /** Pairs of neighbours that share their instant. */
  readonly ties: number;
  /** Events appended during walks. */
  readonly appendedMeanwhile: number;
};

export type Reader = {
  readonly address: () => string;
  /** Restarts the process that answers. */
  restart(): Promise<void>;
};

/** Page sizes, and how many of the newest events a walk with each covers. */
const WALKS = [
  { limit: 1, newest: isFullTier ? 100 : 40, isInterrupted: true },
  { limit: 2, newest: isFullTier ? 200 : 80, isInterrupted: isFullTier },
  { limit: 50, newest: isFullTier ? 1_000 : 300, isInterrupted: isFullTier },
  { limit: 200, newest: isFullTier ? 2_000 : 500, isInterrupted: true },
];

/** Walks with every page size; restarts the reader in the middle of some. */
export async function walkUnderLoad(reader: Reader, { appended }: Appending): Promise<Walks> {
  let sum: Walks = { walked: 0, lost: 0, repeated: 0, disordered: 0, restarts: 0, ties: 0, appendedMeanwhile: 0 };
  for (const { limit, newest, isInterrupted } of WALKS) {
    const start = await readNewest(reader, newest);
    const appendedBefore = appended.length;
    const restartAfter = isInterrupted ? Math.floor(newest / limit / 2) : null;
    let restarts = 0;
    const events = await walkLog({
      address: reader.address,
      limit,
      from: start.from,
      betweenPages: async (pages) => {
        if (pages !== restartAfter) return;
        await reader.restart();
        restarts += 1;
      },
    });
    const ids = events.map((event) => event.id);
    const found = new Set(ids);
    sum = {
      walked: sum.walked + events.length,
      lost: sum.lost + start.ids.filter((id) => !found.has(id)).length,
      repeated: sum.repeated + countRepeats(ids),
      disordered: sum.disordered + (isNewestFirst(events) ? 0 : 1),
      restarts: sum.restarts + restarts,
      ties: sum.ties + countTies(events),
      appendedMeanwhile: sum.appendedMeanwhile + appended.length - appendedBefore,
    };
  }
  return sum;
}

async function readNewest({ address }: Reader, count: number): Promise<{ from: number; ids: readonly string[] }> {
  const events: LoggedEvent[] = [];
  for (let cursor: string | null = ''; cursor !== null && events.length < count; ) {
    const { body } = await readPage(address(), { from: 0, limit: Math.min(count, LIMIT_MAX), cursor });
    events.push(...body.data);
    cursor = body.next_cursor;
  }
  return { from: Date.parse(events.at(-1)?.created ?? ''), ids: events.map((event) => event.id) };
}

function countTies(events: readonly LoggedEvent[]): number {
  return events.filter((event, index) => events[index - 1]?.created === event.created).length;
}
