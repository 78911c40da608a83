/**
 * The rows that an append reads. Each query takes a round trip, so a run notes the rows that are not loaded yet, and
 * all of them are read together before the next run. Rows that the batch may change are locked.
 */

import type { BucketKey } from '../../../domain/budgets/budget.ts';
import { bucketName } from '../../../domain/budgets/charges.ts';
import { READ_NAMES, type Reader, type ReadName } from '../../append/reader.ts';
import type { Lookup, Query } from '../../statements/statement.ts';
import { openQueries, type PostgresQueries } from './statements.ts';
import type { PipelinedTransaction } from './transaction.ts';

type AnyLookup = Lookup<unknown, unknown>;
type AnyQuery = Query<unknown, unknown>;

/** Lookups read many keys at once. */
type Reads = Readonly<Record<ReadName, AnyLookup | AnyQuery>>;

function readsOf({ append, traces: { findRootSpan, listSummaries } }: PostgresQueries): Reads {
  const reads = { ...append, findRootSpan, listSummaries } satisfies Record<ReadName, unknown>;
  return reads as unknown as Reads;
}

type BucketName = BucketKey & { readonly organizationNumber: number };

/** In the order in which they are locked. */
function compareBuckets(one: BucketName, other: BucketName): number {
  if (one.organizationNumber !== other.organizationNumber) return one.organizationNumber - other.organizationNumber;
  return bucketName(one) < bucketName(other) ? -1 : 1;
}

export function createLoadedRows() {
  const queries = openQueries();
  const reads = readsOf(queries);
  const { lockRequestKeys, makeBuckets } = queries.appendPostgres;
  const known = new Map<string, unknown[]>();
  const missing = new Map<ReadName, Map<string, unknown>>();

  async function readOne(
    transaction: PipelinedTransaction,
    name: ReadName,
    keys: ReadonlyMap<string, unknown>,
  ): Promise<void> {
    const query = reads[name];
    for (const id of keys.keys()) known.set(id, []);
    if (!('nameOf' in query)) {
      await Promise.all(
        [...keys].map(async ([id, key]) => known.set(id, [...(await transaction.runQuery(query, key))])),
      );
      return;
    }
    const wanted = [...keys.values()];
    // A statement of its own: rows that were locked after a wait must be read as they are by then.
    if (name === 'findBucket') transaction.changeRows(makeBuckets, (wanted as BucketName[]).toSorted(compareBuckets));
    if (name === 'findRequest') transaction.post(lockRequestKeys, lockRequestKeys.cells(wanted as never));
    for (const row of await transaction.runQuery(query, wanted)) known.get(idOf(name, row))?.push(row);
  }

  function idOf(name: ReadName, key: unknown): string {
    const query = reads[name];
    return `${name} ${'nameOf' in query ? query.nameOf(key) : JSON.stringify(key)}`;
  }

  return {
    read: ((name: ReadName, key: unknown) => {
      const id = idOf(name, key);
      const rows = known.get(id);
      if (rows !== undefined) return rows;
      const others = missing.get(name);
      if (others === undefined) missing.set(name, new Map([[id, key]]));
      else others.set(id, key);
      return [];
    }) as Reader,
    hasMissing: () => missing.size > 0,
    async loadMissing(transaction: PipelinedTransaction): Promise<void> {
      const wanted = READ_NAMES.flatMap((name) => [...missing].filter(([each]) => each === name));
      missing.clear();
      await Promise.all(wanted.map(([name, keys]) => readOne(transaction, name, keys)));
    },
  };
}
