/** The rows that work about deliveries needs, read in one round trip at the beginning of its transaction. */

import type { Work, WorkInstant } from '../../domain/webhook-store.ts';
import { HOUR_MS, type WorkDelivery, type WorkEndpoint, type WorkReplay, type WorkTables } from '../delivery/tables.ts';
import { parseSeqs } from '../rows/webhook-texts.ts';
import type { Statement } from './connection.ts';
import {
  type DeliveryRow,
  type EndpointRow,
  type ReplayRow,
  toWorkDelivery,
  toWorkEndpoint,
  toWorkReplay,
  WORK_DELIVERY_COLUMNS,
  WORK_ENDPOINT_SELECT,
  WORK_REPLAY_COLUMNS,
} from './delivery-rows.ts';
import type { Transaction } from './transaction.ts';

/** What a transaction reads and takes. */
export type Names = {
  readonly endpoints: readonly number[];
  readonly deliveries: readonly number[];
  /** Of the deliveries, those whose content is needed as well. */
  readonly taken: readonly number[];
  /** Beside those that the deliveries are of. */
  readonly replays: readonly number[];
  /** So many deliveries may be made. */
  readonly batches: number;
  /** Attempts in this hour are counted; null: nowhere. */
  readonly hour: number | null;
};

export type ReadTables = {
  readonly tables: WorkTables;
  /** Those of the named that are there. */
  readonly endpoints: ReadonlyMap<number, WorkEndpoint>;
};

type Content = {
  readonly number: number;
  readonly seqs: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly isKept: boolean;
};
type Hour = { readonly organizationNumber: number; readonly attempts: number };
type Held = { readonly number: number };

/**
 * The first thing in a transaction. It takes the endpoints: nobody else changes anything about them until it ends.
 * `idle`: those that others have at the moment are left out, as if they were not there.
 */
export async function readTables({ ask }: Transaction, names: Names, lock: 'all' | 'idle'): Promise<ReadTables> {
  const { hour, batches, taken } = names;
  const [held, endpoints, deliveries, replays, contents, hours, numbers] = await Promise.all([
    ask<Held>(LOCKS[lock], [names.endpoints]),
    ask<EndpointRow>(ENDPOINTS, [names.endpoints]),
    names.deliveries.length === 0 ? [] : ask<DeliveryRow>(DELIVERIES, [names.deliveries]),
    names.deliveries.length + names.replays.length === 0
      ? []
      : ask<ReplayRow>(REPLAYS, [names.replays, names.deliveries]),
    taken.length === 0 ? [] : ask<Content>(CONTENTS, [taken]),
    hour === null ? [] : ask<Hour>(HOURS, [names.endpoints, hour]),
    batches === 0 ? [] : ask<{ number: number }>(NUMBERS, [batches]),
  ]);
  const heldNumbers = new Set(held.map(({ number }) => number));
  const heldEndpoints = new Map(
    endpoints.filter(({ number }) => heldNumbers.has(number)).map((row) => [row.number, toWorkEndpoint(row)]),
  );
  return {
    endpoints: heldEndpoints,
    tables: createTables({
      endpoints: heldEndpoints,
      deliveries: new Map(deliveries.map((row) => [row.number, toWorkDelivery(row)])),
      replays: new Map(replays.map((row) => [row.number, toWorkReplay(row)])),
      contents: new Map(contents.map((row) => [row.number, row])),
      attempts: new Map(hours.map((row) => [row.organizationNumber, row.attempts])),
      numbers: numbers.map((row) => row.number),
    }),
  };
}

/** What pieces of work are about. */
export function namesIn(work: readonly Work[], { nowMs, attemptsPerHourMax }: WorkInstant): Names {
  const endpoints = new Set<number>();
  const deliveries = new Set<number>();
  const taken = new Set<number>();
  const replays = new Set<number>();
  let batches = 0;
  for (const piece of work) {
    endpoints.add(piece.endpointNumber);
    if (piece.kind !== 'cut') deliveries.add(piece.number);
    if (piece.kind === 'take') taken.add(piece.number);
    if (piece.kind !== 'cut') continue;
    batches += piece.batches.length;
    if (piece.lane.kind === 'replay') replays.add(piece.lane.number);
  }
  return {
    endpoints: [...endpoints],
    deliveries: [...deliveries],
    taken: [...taken],
    replays: [...replays],
    batches,
    hour: attemptsPerHourMax === null ? null : Math.floor(nowMs / HOUR_MS),
  };
}

type Read = {
  readonly endpoints: ReadonlyMap<number, WorkEndpoint>;
  readonly deliveries: ReadonlyMap<number, WorkDelivery>;
  readonly replays: ReadonlyMap<number, WorkReplay>;
  readonly contents: ReadonlyMap<number, Content>;
  readonly attempts: ReadonlyMap<number, number>;
  readonly numbers: readonly number[];
};

function createTables({ endpoints, deliveries, replays, contents, attempts, numbers }: Read): WorkTables {
  const unused = numbers.values();
  return {
    endpoint: (number) => endpoints.get(number),
    delivery: (number) => deliveries.get(number),
    replay: (number) => replays.get(number),
    content({ number }) {
      const content = contents.get(number);
      if (content === undefined) throw new Error('the content of a delivery was not read');
      const { seqs, isKept, firstMs, lastMs } = content;
      return { seqs: parseSeqs(seqs), created: { firstMs, lastMs }, isKept };
    },
    attemptsInHour: (organizationNumber) => attempts.get(organizationNumber) ?? 0,
    nextDeliveryNumber() {
      const { value } = unused.next();
      if (value === undefined) throw new Error('a number is drawn that was not reserved');
      return value;
    },
  };
}

// Always in this order, so that two who need several of them wait for each other, but never both at once.
const LOCK = `SELECT endpoint_number AS number FROM webhook_states WHERE endpoint_number = ANY ($1::integer[])
  ORDER BY endpoint_number FOR UPDATE`;

const LOCKS = {
  all: { name: 'work-lock', text: LOCK },
  idle: { name: 'work-lock-idle', text: `${LOCK} SKIP LOCKED` },
} as const satisfies Record<string, Statement>;

const ENDPOINTS: Statement = {
  name: 'work-endpoints',
  text: `${WORK_ENDPOINT_SELECT} WHERE states.endpoint_number = ANY ($1::integer[])`,
};

const DELIVERIES: Statement = {
  name: 'work-deliveries',
  text: `SELECT ${WORK_DELIVERY_COLUMNS} FROM webhook_deliveries WHERE number = ANY ($1::bigint[])`,
};

const REPLAYS: Statement = {
  name: 'work-replays',
  text: `SELECT ${WORK_REPLAY_COLUMNS} FROM webhook_replays WHERE number = ANY (
    $1::integer[] || ARRAY(SELECT replay_number FROM webhook_deliveries WHERE number = ANY ($2::bigint[]))
  )`,
};

// The log loses whole months, oldest first: while the first of some events is there, so are the others.
const CONTENTS: Statement = {
  name: 'work-contents',
  text: `SELECT deliveries.number, seqs, events_from AS "firstMs", events_to AS "lastMs",
      EXISTS (
        SELECT FROM events WHERE events.organization_number = endpoints.organization_number
          AND events.created_at = events_from AND events.seq = (seqs::jsonb ->> 0)::bigint
      ) AS "isKept"
    FROM webhook_deliveries AS deliveries JOIN webhook_endpoints AS endpoints ON endpoints.number = endpoint_number
    WHERE deliveries.number = ANY ($1::bigint[])`,
};

// Changed and not only read: a row that is not there yet can be held in no other way.
const HOURS: Statement = {
  name: 'work-hours',
  text: `INSERT INTO webhook_hours AS stored (organization_number, hour, attempts)
    SELECT DISTINCT organization_number, $2::integer, 0 FROM webhook_endpoints WHERE number = ANY ($1::integer[])
    ORDER BY organization_number
    ON CONFLICT (organization_number, hour) DO UPDATE SET attempts = stored.attempts
    RETURNING organization_number AS "organizationNumber", attempts`,
};

const NUMBERS: Statement = {
  name: 'work-numbers',
  text: `SELECT nextval('webhook_deliveries_number_seq') AS number FROM generate_series(1, $1::integer)`,
};
