/** What long reads share: a bound on how many run at once, their time limit, and reading in pages. */

import { randomBytes } from 'node:crypto';
import { type Fault, unavailableFault } from '../domain/fault.ts';
import { keyedGroupHash } from '../domain/group-parts.ts';

/** After so long a sum is given up, and the caller gets the unavailable Fault. */
export const ANSWER_MAX_MS = 25_000;

const GROUP_KEY_BYTES = 16;
/** Divides groups into parts, with a key of this process. */
export const GROUP_HASH = keyedGroupHash(randomBytes(GROUP_KEY_BYTES).toString('base64'));

/** Reads pages until one is not full. `read` gets the last row before the page; null for the first page. */
export async function* readPages<Row>(
  limit: number,
  read: (last: Row | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void, void> {
  let last: Row | null = null;
  do {
    const rows: readonly Row[] = await read(last);
    if (rows.length > 0) yield rows;
    last = rows.length < limit ? null : (rows.at(-1) ?? null);
  } while (last !== null);
}

/** The rows of all pages. */
export async function readAllPages<Row>(
  limit: number,
  read: (last: Row | null) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const all: Row[] = [];
  for await (const rows of readPages(limit, read)) for (const row of rows) all.push(row);
  return all;
}

type Limits = { readonly runningMax: number; readonly waitingMax: number };
type Tenant = number | string;
type Waiting = { readonly tenant: Tenant; readonly start: () => void };

const ALL: Limits = { runningMax: 4, waitingMax: 64 };
/** Less than all, so that one tenant cannot use every slot. */
const OF_TENANT: Limits = { runningMax: 2, waitingMax: 16 };
const RETRY_AFTER_SECONDS = 1;

/** Searches of a project. Each limited read rejects with the unavailable Fault when too many are waiting. */
export function limitSearches<Query extends { readonly projectNumber: number }, Found>(
  find: (query: Query) => Promise<Found>,
): (query: Query) => Promise<Found> {
  return limitReads(find, ({ projectNumber }) => projectNumber, SEARCHES);
}

/** Sums of an organization. */
export function limitSums<Query extends { readonly organizationNumber: number }, Answer>(
  sum: (query: Query) => Promise<Answer>,
): (query: Query) => Promise<Answer> {
  return limitReads(sum, ({ organizationNumber }) => organizationNumber, SUMS);
}

/** Reads of all results of a run. */
export function limitRuns<Query, Answer>(
  read: (query: Query) => Promise<Answer>,
  projectOf: (query: Query) => string | number,
): (query: Query) => Promise<Answer> {
  return limitReads(read, projectOf, RUNS);
}

/** The names of the reads in refusals. */
type Names = { readonly all: string; readonly ofTenant: string };

const SEARCHES: Names = { all: 'searches', ofTenant: 'searches of this project' };
const SUMS: Names = { all: 'sums', ofTenant: 'sums of this organization' };
const RUNS: Names = { all: 'reads of runs', ofTenant: 'reads of runs of this project' };

function limitReads<Query, Found>(
  read: (query: Query) => Promise<Found>,
  tenantOf: (query: Query) => Tenant,
  names: Names,
): (query: Query) => Promise<Found> {
  const running: Tenant[] = [];
  const waiting: Waiting[] = [];

  function mayRun(tenant: Tenant): boolean {
    const count = running.filter((each) => each === tenant).length;
    return running.length < ALL.runningMax && count < OF_TENANT.runningMax;
  }

  async function begin(tenant: Tenant): Promise<void> {
    if (mayRun(tenant)) {
      running.push(tenant);
      return;
    }
    const count = waiting.filter((each) => each.tenant === tenant).length;
    if (count >= OF_TENANT.waitingMax) throw refusal(`Too many ${names.ofTenant} at once; try again.`);
    if (waiting.length >= ALL.waitingMax) throw refusal(`Too many ${names.all} at once; try again.`);
    await new Promise<void>((start) => waiting.push({ tenant, start }));
  }

  function end(tenant: Tenant): void {
    running.splice(running.indexOf(tenant), 1);
    const index = waiting.findIndex((each) => mayRun(each.tenant));
    const [next] = index === -1 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    // Reserves the slot before a new caller can take it.
    running.push(next.tenant);
    next.start();
  }

  return async (query) => {
    const tenant = tenantOf(query);
    await begin(tenant);
    try {
      return await read(query);
    } finally {
      end(tenant);
    }
  };
}

function refusal(message: string): Fault {
  return unavailableFault(message, RETRY_AFTER_SECONDS);
}
