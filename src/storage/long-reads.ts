/** What long reads share: a bound on how many run at once, their time limit, and reading in pages. */

import { randomBytes } from 'node:crypto';
import { unavailableFault } from '../domain/fault.ts';
import { keyedGroupHash } from '../domain/group-parts.ts';
import { createSemaphore, type SemaphoreOptions } from '../domain/semaphore.ts';

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

const RETRY_AFTER_SECONDS = 1;
/** One tenant cannot use every permit. */
const LIMITS: SemaphoreOptions = { permitsMax: 4, ofOwnerMax: 2, waitingMax: 64, waitingOfOwnerMax: 16 };

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

/** Reads of whole traces, each of which holds the ids of all spans. */
export function createTraceLimit(permitsMax: number): <T>(read: () => Promise<T>) => Promise<T> {
  const limits = { permitsMax, waitingMax: 64, waitingOfOwnerMax: 64 };
  const run = limitReads(
    (read: () => Promise<unknown>) => read(),
    () => 0,
    { ...WHOLE_TRACES, limits },
  );
  return run as <T>(read: () => Promise<T>) => Promise<T>;
}

/** The names of the reads in refusals. */
type Reads = { readonly all: string; readonly ofTenant: string; readonly limits?: SemaphoreOptions };

const SEARCHES: Reads = { all: 'searches at once', ofTenant: 'searches of this project at once' };
const SUMS: Reads = { all: 'sums at once', ofTenant: 'sums of this organization at once' };
const RUNS: Reads = { all: 'reads of runs at once', ofTenant: 'reads of runs of this project at once' };
const WHOLE_TRACES: Reads = { all: 'large traces are being read', ofTenant: 'large traces are being read' };

function limitReads<Query, Found>(
  read: (query: Query) => Promise<Found>,
  tenantOf: (query: Query) => number | string,
  { all, ofTenant, limits = LIMITS }: Reads,
): (query: Query) => Promise<Found> {
  const semaphore = createSemaphore<number | string>(limits);
  return async (query) => {
    const tenant = tenantOf(query);
    const outcome = await semaphore.acquire(tenant);
    if (outcome !== 'acquired') {
      const tooMany = outcome === 'owner_full' ? ofTenant : all;
      throw unavailableFault(`Too many ${tooMany}; try again.`, RETRY_AFTER_SECONDS);
    }
    try {
      return await read(query);
    } finally {
      semaphore.release(tenant);
    }
  };
}
