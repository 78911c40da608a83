/**
 * The group commit. A batch is first taken to hold nothing that is stored already, which needs one round trip, and
 * is nearly always right; the database refuses the whole of it when it is not. Then what is there is read and
 * locked, and the batch applied to that.
 */

import type pg from 'pg';
import { unavailableFault } from '../../domain/fault.ts';
import { type Append, type AppendOutcome, apply, isReport } from '../append/apply.ts';
import { isOneStatement, keepAggregates } from './aggregates.ts';
import { batchQuery, type RowOids } from './batch-rows.ts';
import type { Lane } from './connection.ts';
import { hasEarlierCorrections, keepCorrections } from './corrections.ts';
import { isConflict, isMonthMissing, isStorageFailure, missingSequence, storageFault } from './failures.ts';
import { hasMissing, readMissing } from './known-rows.ts';
import { monthOfSequence, monthStartMs, sequenceOf } from './month.ts';
import type { Months } from './months.ts';
import type { TraceNumbers } from './trace-numbers.ts';
import { createKnownRows, createWorkingSet, type KnownRows, type MissingRows, type WorkingSet } from './working-set.ts';

export type AppenderDeps = {
  readonly lane: Lane;
  readonly oids: RowOids;
  readonly numbers: TraceNumbers;
  readonly months: Months;
};

export type AppendBatch = (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>;

// Each attempt that fails does so because another transaction got further, so few are ever needed.
const ATTEMPTS_MAX = 10;
// Re-sent and continued traces come in company: after one it pays to look first for a while.
const CAUTIOUS_BATCHES = 32;
const RETRY_AFTER_SECONDS = 1;

/** Rejects when the database cannot serve; what became of the batch is then unknown, and sending it again is safe. */
export function createAppendBatch(deps: AppenderDeps): AppendBatch {
  let cautiousBatches = 0;

  async function storeTogether(appends: readonly Append[]): Promise<AppendOutcome[]> {
    await ensureMonths(deps.months, appends);
    for (let attempt = 1; ; attempt += 1) {
      // What gateways report is about requests that are there already, more often than not.
      const isHopeful = attempt === 1 && cautiousBatches === 0 && !appends.some(isReport);
      if (attempt === 1 && cautiousBatches > 0) cautiousBatches -= 1;
      try {
        return isHopeful ? await storeAsNew(deps, appends) : await storeOnKnown(deps, appends);
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !(isConflict(error) || isMonthMissing(error))) throw error;
        if (isConflict(error)) cautiousBatches = CAUTIOUS_BATCHES;
        else deps.months.forget();
        await ensureMonths(deps.months, appends);
        // An old trace, whose month had nothing left in it until now.
        const sequence = missingSequence(error);
        if (sequence !== null) await deps.months.ensure([monthStartMs(monthOfSequence(sequence))]);
      }
    }
  }

  async function storeAlone(append: Append): Promise<AppendOutcome> {
    try {
      return (await storeTogether([append]))[0] ?? null;
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      if (isConflict(error))
        return unavailableFault('Others keep changing the same; try again.', RETRY_AFTER_SECONDS, error);
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  return async (appends) => {
    try {
      return await storeTogether(appends);
    } catch (error) {
      if (isStorageFailure(error)) throw storageFault(error);
      // One of them cannot be stored; the others must not pay for it.
      return await storeEach(appends, storeAlone);
    }
  };
}

async function ensureMonths(months: Months, appends: readonly Append[]): Promise<void> {
  await months.ensure(appends.flatMap((append) => ('receivedAtMs' in append ? [append.receivedAtMs] : [])));
}

async function storeEach(
  appends: readonly Append[],
  storeAlone: (append: Append) => Promise<AppendOutcome>,
): Promise<readonly AppendOutcome[]> {
  const outcomes: AppendOutcome[] = [];
  for (const append of appends) {
    try {
      outcomes.push(await storeAlone(append));
    } catch (error) {
      // Those before are stored and must hear so.
      outcomes.push(storageFault(error));
    }
  }
  return outcomes;
}

type Run = { readonly set: WorkingSet; readonly outcomes: AppendOutcome[] };

async function run(deps: AppenderDeps, appends: readonly Append[], known: KnownRows | null): Promise<Run> {
  // Another batch may draw while this one waits.
  while (!deps.numbers.has(appends.length)) await deps.numbers.reserve(appends.length);
  const drawSequence = (insertedAtMs: number) => sequenceOf(insertedAtMs, deps.numbers.draw());
  const set = createWorkingSet({ known, drawSequence });
  return { set, outcomes: appends.map((append) => apply(set.tables, append)) };
}

async function storeAsNew(deps: AppenderDeps, appends: readonly Append[]): Promise<AppendOutcome[]> {
  return await deps.lane.hold(async (client) => {
    // Not before there is a connection: a new one makes numbers that were drawn worthless.
    const { set, outcomes } = await run(deps, appends, null);
    if (isOneStatement(set.written) && !hasEarlierCorrections(set.written))
      await client.query(batchQuery(deps.oids, set.written));
    else await inTransaction(client, () => write(client, deps, set));
    return outcomes;
  });
}

async function storeOnKnown(deps: AppenderDeps, appends: readonly Append[]): Promise<AppendOutcome[]> {
  return await deps.lane.hold((client) =>
    inTransaction(client, async () => {
      const known = createKnownRows();
      await readMissing(client, known, everyTrace(appends));
      const { set, outcomes } = await runOnKnown(deps, appends, { client, known });
      await write(client, deps, set);
      return outcomes;
    }),
  );
}

async function write(client: pg.ClientBase, { oids }: AppenderDeps, { written }: WorkingSet): Promise<void> {
  await client.query(batchQuery(oids, written));
  await keepAggregates(client, written);
  await keepCorrections(client, written);
}

async function inTransaction<T>(client: pg.ClientBase, body: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await body();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot even do this is thrown away with its transaction.
    if (!isStorageFailure(error)) await client.query('ROLLBACK');
    throw error;
  }
}

async function runOnKnown(
  deps: AppenderDeps,
  appends: readonly Append[],
  { client, known }: { client: pg.ClientBase; known: KnownRows },
): Promise<Run> {
  for (;;) {
    const ran = await run(deps, appends, known);
    if (!hasMissing(ran.set.missing)) return ran;
    await readMissing(client, known, ran.set.missing);
  }
}

/** What every run asks for first. */
function everyTrace(appends: readonly Append[]): MissingRows {
  const first = createWorkingSet({ known: createKnownRows(), drawSequence: () => 0 });
  for (const append of appends) {
    if ('traceId' in append) first.tables.findTrace(append.projectNumber, append.traceId);
    if ('organizationNumber' in append) first.tables.log(append.organizationNumber);
  }
  return first.missing;
}
