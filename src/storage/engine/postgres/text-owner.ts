/** Whether the ClickHouse at the address is the one that has the texts of this database, and what it is told to remove. */

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { TextStore } from '../../clickhouse/texts.ts';
import type { StoreLog } from '../../store.ts';
import { listOlderProcesses } from './processes.ts';
import {
  COUNT_STEP,
  DELETE_REMOVED,
  FIND_OWNER,
  FORGET_COPIES,
  IS_ANY_MOVED,
  LIST_LEAVING,
  LIST_REMOVED,
  type Owner,
  REFUSE_OLDER,
  REMOVED_AT_ONCE,
  type Removed,
  SCHEMA_NUMBER,
  STORE_OWNER,
} from './text-moves.ts';

type OwnerOptions = {
  /** Whether a database without texts there is going to have some. */
  readonly isNew: boolean;
  readonly log: StoreLog;
};

const LACKS =
  'lacks the texts that were moved to it: none is moved or removed until its backup is restored, or SPANDREL_TELEMETRY_URL is correct';
const HAS_OTHERS =
  'has texts of another database, or of another time of this one: none is moved or removed; set SPANDREL_TELEMETRY_URL to the right one, or to an empty one if no text was moved';

/** Null where nothing may be moved, or removed. */
export async function findTextOwner(
  client: pg.ClientBase,
  texts: TextStore,
  { isNew, log }: OwnerOptions,
): Promise<Owner | null> {
  const own = (await client.query<Owner>(FIND_OWNER)).rows[0] ?? null;
  if (own === null && !isNew) return null;
  const stored = await texts.readOwner();
  if (own !== null && own.owner === stored) {
    await texts.forgetRemovals(own.step);
    return own;
  }
  const isAnyMoved = (await client.query(IS_ANY_MOVED)).rows.length > 0;
  if (stored !== null || isAnyMoved) {
    log.error({}, `ClickHouse ${stored === null ? LACKS : HAS_OTHERS}`);
    return null;
  }
  // A new ClickHouse, or one that lost everything before a text was moved.
  await client.query(FORGET_COPIES);
  const { owner, step } = own ?? { owner: randomUUID(), step: 0 };
  if (own === null) await client.query(STORE_OWNER, [owner]);
  await texts.storeOwner(owner);
  return { owner, step };
}

/** Tells ClickHouse which texts may go. Returns whether there may be more. */
export async function conveyRemoved(client: pg.ClientBase, texts: TextStore, { step }: Owner): Promise<boolean> {
  const { rows } = await client.query<Removed>(LIST_REMOVED);
  if (rows.length === 0) return false;
  await texts.remove(
    rows.flatMap(({ place }) => (place === null ? [] : [place])),
    step + 1,
  );
  await texts.removeTraces(
    rows.flatMap(({ projectNumber, sequence }) =>
      projectNumber === null || sequence === null ? [] : [{ projectNumber, sequence }],
    ),
    step + 1,
  );
  await client.query('BEGIN');
  await client.query(COUNT_STEP);
  await client.query(DELETE_REMOVED, [rows.map(({ id }) => id)]);
  await client.query('COMMIT');
  return rows.length === REMOVED_AT_ONCE;
}

type Conveying = { readonly client: pg.ClientBase; readonly owner: Owner };

/**
 * Removes copies that nothing refers to. Those that a span gave up a moment ago are told of later, with a step of their own: a
 * database that is put back to the time before refers to them again.
 */
export async function removeSurplus(
  { client, owner }: Conveying,
  texts: TextStore,
  places: readonly string[],
): Promise<void> {
  if (places.length === 0) return;
  const { rows } = await client.query<{ place: string }>(LIST_LEAVING, [places]);
  const leaving = new Set(rows.map(({ place }) => place));
  await texts.remove(
    places.filter((place) => !leaving.has(place)),
    owner.step,
  );
}

/** Refuses older processes, which take references for texts. False while one has the database open. */
export async function refuseOlder(client: pg.ClientBase, log: StoreLog): Promise<boolean> {
  // Those that connect before they are refused are seen afterwards.
  for (const refuses of [false, true]) {
    if (refuses) await client.query(REFUSE_OLDER);
    const older = await listOlderProcesses(client, SCHEMA_NUMBER);
    if (older.length === 0) continue;
    log.warn({ connections: older }, 'texts are moved once no older process has the database open');
    return false;
  }
  return true;
}
