/** The connections of a store: a lane for each kind of work. */

import { type Lane, openLane } from './connection.ts';
import { refuseForgetful } from './schema.ts';

// One for the batch under way, one for whoever asks whether writing works.
const INGEST_CONNECTIONS = 2;
const CONTROL_CONNECTIONS = 2;
const MANAGEMENT_CONNECTIONS = 2;
// Work that was asked for meanwhile is done together, so that few are ever needed.
const DELIVERY_CONNECTIONS = 4;
// From taking the head of a log, or an endpoint, to the commit everybody else waits.
const WRITE_TIMEOUT_MS = 5_000;
const READ_TIMEOUT_MS = 30_000;
// Every request waits for one of these point reads, so a database that has gone silent must be noticed soon.
const CONTROL_TIMEOUT_MS = 2_000;
// Planning a question over all months anew takes longer than answering it.
const KEEP_PLANS = 'SET plan_cache_mode = force_generic_plan';
// A batch touches few rows of large tables. Its plans are kept, and one that was made while a table was small, or is
// made from old statistics, would have every later batch look through all of it. Tables are joined as they are written.
const FIND_BY_KEYS = `SET jit = off;
  SET enable_seqscan = off;
  SET enable_hashjoin = off;
  SET enable_mergejoin = off;
  SET join_collapse_limit = 1`;

export type Lanes = Readonly<Record<'ingest' | 'control' | 'reads' | 'management' | 'delivery', Lane>>;

export type LanesOptions = {
  readonly url: string;
  /** Connections for reading; a few more are for everything else. */
  readonly connectionsMax: number;
  /** Accepts a database that may lose what it has acknowledged. */
  readonly mayForget: boolean;
};

export function openLanes({ url, connectionsMax, mayForget }: LanesOptions): Lanes {
  const write = { url, statementTimeoutMs: WRITE_TIMEOUT_MS, ...(mayForget ? {} : { inspect: refuseForgetful }) };
  return {
    ingest: openLane({
      ...write,
      name: 'ingest',
      connectionsMax: INGEST_CONNECTIONS,
      isPipelined: true,
      inspect: async (client) => {
        if (!mayForget) await refuseForgetful(client);
        await client.query(FIND_BY_KEYS);
      },
    }),
    control: openLane({
      ...write,
      name: 'control',
      connectionsMax: CONTROL_CONNECTIONS,
      statementTimeoutMs: CONTROL_TIMEOUT_MS,
    }),
    management: openLane({ ...write, name: 'management', connectionsMax: MANAGEMENT_CONNECTIONS, isPipelined: true }),
    reads: openLane({
      url,
      name: 'reads',
      connectionsMax,
      statementTimeoutMs: READ_TIMEOUT_MS,
      inspect: async (client) => void (await client.query(KEEP_PLANS)),
    }),
    delivery: openLane({
      ...write,
      name: 'delivery',
      connectionsMax: DELIVERY_CONNECTIONS,
      isPipelined: true,
      inspect: async (client) => {
        if (!mayForget) await refuseForgetful(client);
        await client.query(`${FIND_BY_KEYS}; ${KEEP_PLANS}`);
      },
    }),
  };
}

export async function closeLanes(lanes: Lanes): Promise<void> {
  await Promise.all(Object.values(lanes).map((lane) => lane.pool.end()));
}

/** The same lane, but `refuse` is asked before it is used. */
export function closable(lane: Lane, refuse: () => void): Lane {
  return {
    ...lane,
    ask: async (statement, values) => {
      refuse();
      return await lane.ask(statement, values);
    },
    hold: async (body) => {
      refuse();
      return await lane.hold(body);
    },
  };
}
