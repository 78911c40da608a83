/** The group commit: a batch is one transaction, and all its writes take one round trip. */

import type { Backlog } from '../../../domain/evaluations/backlog.ts';
import type { JobQueueOptions } from '../../../domain/evaluations/jobs.ts';
import { unavailableFault } from '../../../domain/fault.ts';
import {
  type Append,
  type AppendOutcome,
  type Applied,
  applyBatch,
  createInsertOnlyHeuristic,
  tracesOf,
} from '../../append/apply.ts';
import { type BudgetCache, createBudgetCache } from '../../append/batch-budgets.ts';
import type { LogHeads } from '../../append/batch-log.ts';
import { findNothing, type Reader } from '../../append/reader.ts';
import { toError } from '../../errors.ts';
import type { RowTypes } from './binary-arrays.ts';
import {
  isConflict,
  isMonthMissing,
  isOtherRow,
  isOutdated,
  isStorageFailure,
  missingSequence,
  storageFault,
} from './failures.ts';
import { createLoadedRows } from './loaded-rows.ts';
import type { MonitorCache } from './monitor-cache.ts';
import { type Months, monthOfSequence, monthStartMs, sequenceOf } from './months.ts';
import type { Pool } from './pool.ts';
import { type PipelinedTransaction, runTransaction } from './transaction.ts';
import { writeLog, writeTelemetry } from './write-batch.ts';

type AppenderDeps = {
  readonly pool: Pool;
  readonly numbers: TraceNumbers;
  readonly months: Months;
  readonly rowTypes: RowTypes;
  readonly monitors: MonitorCache;
  readonly jobQueue: JobQueueOptions;
  readonly backlog: Backlog;
};

type BatchDeps = AppenderDeps & { readonly budgets: BudgetCache };

type AppendBatch = (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>;

// An attempt fails only because another transaction succeeded, so few are ever needed.
const ATTEMPTS_MAX = 10;
const RETRY_AFTER_SECONDS = 1;

/**
 * Rejects when the database cannot serve; whether the batch was stored is then unknown, and sending it again is safe.
 */
export function createAppendBatch(appender: AppenderDeps): AppendBatch {
  const deps: BatchDeps = { ...appender, budgets: createBudgetCache() };
  const heuristic = createInsertOnlyHeuristic();

  async function storeTogether(appends: readonly Append[]): Promise<AppendOutcome[]> {
    await ensureMonths(deps.months, appends);
    const projects = projectsOf(appends);
    await deps.monitors.ensureLoaded(projects);
    let locksMonitors = false;
    for (let attempt = 1; ; attempt += 1) {
      const isNew = attempt === 1 && heuristic.expectsInsertsOnly(appends);
      try {
        const batch = { appends, projects, locksMonitors };
        const { outcomes, log } = isNew ? await storeAsNew(deps, batch) : await storeOnKnown(deps, batch);
        for (const [projectNumber, count] of log.jobCounts) deps.backlog.note(projectNumber, count);
        return outcomes;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !mayComeRight(error)) throw error;
        if (isConflict(error)) heuristic.recordConflict();
        else if (isOtherRow(error)) await deps.rowTypes.load();
        else if (isOutdated(error)) locksMonitors = true;
        else deps.months.reset();
        await ensureMonths(deps.months, appends);
        // An old trace whose month has no partition yet.
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
      if (isConflict(error) || isOutdated(error))
        return unavailableFault('Others keep changing the same; try again.', RETRY_AFTER_SECONDS, error);
      return toError(error);
    }
  }

  return async (appends) => {
    try {
      return await storeTogether(appends);
    } catch (error) {
      if (isStorageFailure(error)) throw storageFault(error);
      // One append cannot be stored; the others are stored one by one.
      return await storeEach(appends, storeAlone);
    }
  };
}

function mayComeRight(error: unknown): boolean {
  return isConflict(error) || isOtherRow(error) || isMonthMissing(error) || isOutdated(error);
}

async function ensureMonths(months: Months, appends: readonly Append[]): Promise<void> {
  await months.ensure(appends.flatMap(receiptsOf));
}

/** The projects of the traces, by number. */
function projectsOf(appends: readonly Append[]): readonly number[] {
  const traces = appends.flatMap((append) => {
    // The result of an evaluation, which triggers may ask for.
    if ('fence' in append) return append.outcome.kind === 'store' ? [append.outcome.append] : [];
    return tracesOf(append);
  });
  const numbers = new Set(traces.map(({ projectNumber }) => projectNumber));
  return [...numbers].sort((one, other) => one - other);
}

function receiptsOf(append: Append): readonly number[] {
  if ('receivedAtMs' in append) return [append.receivedAtMs];
  const reports = 'kind' in append && append.kind === 'outcome' ? [append.report] : [];
  return [...reports, ...tracesOf(append)].map(({ receivedAtMs }) => receivedAtMs);
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
      // Earlier appends are stored, and their callers must get that answer.
      outcomes.push(storageFault(error));
    }
  }
  return outcomes;
}

// Placeholders for the instant of the commit, which only the database knows. JSON text never contains this character.
const PLACEHOLDER_LOG_HEADS: LogHeads = {
  beginLog: (organizationNumber, stored) => ({
    organizationNumber,
    seq: 0,
    createdAtMs: 0,
    created: '\u0001',
    lastKeyIndex: stored?.lastKeyIndex ?? 0,
    resets: 0,
  }),
};

async function run(
  { numbers, monitors: { activeMonitorsOf }, jobQueue, backlog, budgets }: BatchDeps,
  appends: readonly Append[],
  read: Reader,
): Promise<Applied> {
  // Another batch may draw numbers during the wait.
  const count = appends.reduce((sum, append) => sum + tracesOf(append).length, 0);
  while (!numbers.has(count)) await numbers.reserve(count);
  const drawSequence = (insertedAtMs: number) => sequenceOf(insertedAtMs, numbers.draw());
  const own = { drawSequence, activeMonitorsOf, jobQueue, backlog, budgets };
  return applyBatch({ read, ...own, ...PLACEHOLDER_LOG_HEADS }, appends);
}

type Batch = {
  readonly appends: readonly Append[];
  readonly projects: readonly number[];
  /** Whether the monitors stay locked until the end. */
  readonly locksMonitors: boolean;
};

async function storeAsNew(deps: BatchDeps, { appends, projects, locksMonitors }: Batch): Promise<Applied> {
  return await deps.pool.withConnection((client) =>
    runTransaction(client, async (transaction) => {
      if (locksMonitors) await deps.monitors.lock(transaction, projects);
      // After the connection: a new one invalidates numbers that were drawn before.
      const applied = await run(deps, appends, findNothing);
      write(deps, transaction, { applied, projects });
      return applied;
    }),
  );
}

/** Reads and locks existing rows, and applies the batch to them. */
async function storeOnKnown(deps: BatchDeps, { appends, projects, locksMonitors }: Batch): Promise<Applied> {
  return await deps.pool.withConnection((client) =>
    runTransaction(client, async (transaction) => {
      if (locksMonitors) await deps.monitors.lock(transaction, projects);
      const known = createLoadedRows();
      // Every run reads these first.
      for (const append of appends) {
        for (const trace of tracesOf(append)) {
          known.read('findTrace', trace);
          known.read('findLogHead', trace);
        }
        if ('fence' in append) {
          // In the order in which appends to the trace lock the two rows.
          if (append.outcome.kind === 'store') known.read('findTrace', append.outcome.append);
          known.read('findJob', append);
        }
        if ('organizationNumber' in append) known.read('findLogHead', append);
      }
      for (;;) {
        await known.loadMissing(transaction);
        const applied = await run(deps, appends, known.read);
        if (known.hasMissing()) continue;
        write(deps, transaction, { applied, projects });
        return applied;
      }
    }),
  );
}

type Writing = { readonly applied: Applied; readonly projects: readonly number[] };

function write(deps: AppenderDeps, transaction: PipelinedTransaction, { applied, projects }: Writing): void {
  writeTelemetry(transaction, deps.rowTypes, applied.telemetry);
  writeLog(transaction, deps.rowTypes, applied.log);
  deps.monitors.check(transaction, projects);
}

// Numbers for new traces are reserved in blocks: a new trace needs no round trip for its number. Matches the increment of
// the sequence: each of its values opens a block.
const BLOCK_NUMBERS = 1000;

type TraceNumbers = ReturnType<typeof createTraceNumbers>;

/** `openBlocks` returns the first number of each of `count` new blocks. */
export function createTraceNumbers(openBlocks: (count: number) => Promise<readonly number[]>) {
  const blocks: { next: number; readonly end: number }[] = [];
  let atHand = 0;

  return {
    /** Whether `count` numbers are reserved. */
    has: (count: number) => atHand >= count,
    draw(): number {
      const block = blocks[0];
      if (block === undefined) throw new Error('no reserved number is left for a row');
      const number = block.next;
      block.next += 1;
      atHand -= 1;
      if (block.next === block.end) blocks.shift();
      return number;
    },
    /** Reserves blocks until `count` numbers are available. */
    async reserve(count: number): Promise<void> {
      const needed = Math.ceil((count - atHand) / BLOCK_NUMBERS);
      if (needed <= 0) return;
      for (const first of await openBlocks(needed)) {
        blocks.push({ next: first, end: first + BLOCK_NUMBERS });
        atHand += BLOCK_NUMBERS;
      }
    },
    /**
     * Drops reserved numbers. Call it when a connection that uses the numbers is new: the previous one may have been to a
     * database that was ahead of this one, which would give the same numbers again.
     */
    reset(): void {
      blocks.length = 0;
      atHand = 0;
    },
  };
}
