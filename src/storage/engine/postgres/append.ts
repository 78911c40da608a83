/** The group commit: a batch is one transaction, of which all that is written goes in one round trip. */

import type { Settle } from '../../../domain/evaluations/jobs.ts';
import { unavailableFault } from '../../../domain/fault.ts';
import type { HourRow } from '../../analytics/hour-changes.ts';
import { type Append, type AppendOutcome, apply, tracesOf } from '../../append/apply.ts';
import { createGuess } from '../../append/guess.ts';
import { findNothing, type Reader } from '../../append/reader.ts';
import type { LogEnds } from '../../append/working-log.ts';
import { createWorkingSet, type Written } from '../../append/working-set.ts';
import type { Backlog } from '../../evaluations/backlog.ts';
import type { Lane } from './connection.ts';
import {
  isConflict,
  isMonthMissing,
  isOtherRow,
  isOutdated,
  isStorageFailure,
  missingSequence,
  storageFault,
} from './failures.ts';
import { createKnownRows } from './known-rows.ts';
import type { MonitorCache } from './monitor-cache.ts';
import { type Months, monthOfSequence, monthStartMs, sequenceOf } from './months.ts';
import type { RowTypes } from './row-types.ts';
import type { TraceNumbers } from './trace-numbers.ts';
import { runTransaction } from './transaction.ts';
import { writeBatch } from './write-batch.ts';

export type AppenderDeps = {
  readonly lane: Lane;
  readonly numbers: TraceNumbers;
  readonly months: Months;
  readonly rowTypes: RowTypes;
  readonly monitors: MonitorCache;
  readonly settle: Settle;
  readonly backlog: Backlog;
};

export type AppendBatch = (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>;

// Each attempt that fails does so because another transaction got further, so few are ever needed.
const ATTEMPTS_MAX = 10;
const RETRY_AFTER_SECONDS = 1;

/** Rejects when the database cannot serve; what became of the batch is then unknown, and sending it again is safe. */
export function createAppendBatch(deps: AppenderDeps): AppendBatch {
  const guess = createGuess();

  async function storeTogether(appends: readonly Append[]): Promise<AppendOutcome[]> {
    await ensureMonths(deps.months, appends);
    const projects = projectsOf(appends);
    await deps.monitors.learn(projects);
    let holds = false;
    for (let attempt = 1; ; attempt += 1) {
      const isNew = attempt === 1 && guess.isNew(appends);
      try {
        const batch = { appends, projects, holds };
        const { outcomes, written } = isNew ? await storeAsNew(deps, batch) : await storeOnKnown(deps, batch);
        for (const [projectNumber, count] of written.jobCounts) deps.backlog.note(projectNumber, count);
        return outcomes;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !mayComeRight(error)) throw error;
        if (isConflict(error)) guess.wasWrong();
        else if (isOtherRow(error)) await deps.rowTypes.load();
        else if (isOutdated(error)) holds = true;
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
      if (isConflict(error) || isOutdated(error))
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

function mayComeRight(error: unknown): boolean {
  return isConflict(error) || isOtherRow(error) || isMonthMissing(error) || isOutdated(error);
}

async function ensureMonths(months: Months, appends: readonly Append[]): Promise<void> {
  await months.ensure(appends.flatMap(receiptsOf));
}

/** The projects of the traces, in the order of their numbers. */
function projectsOf(appends: readonly Append[]): readonly number[] {
  const numbers = new Set(appends.flatMap(tracesOf).map(({ projectNumber }) => projectNumber));
  return [...numbers].sort((one, other) => one - other);
}

function receiptsOf(append: Append): readonly number[] {
  return 'receivedAtMs' in append ? [append.receivedAtMs] : tracesOf(append).map(({ receivedAtMs }) => receivedAtMs);
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

// The moment of the commit, which only the database knows; it takes the places of these. JSON text never holds the one.
const LOG_ENDS: LogEnds = {
  beginLog: (organizationNumber, stored) => ({
    organizationNumber,
    seq: 0,
    createdAtMs: 0,
    created: '\u0001',
    lastKeyIndex: stored?.lastKeyIndex ?? 0,
  }),
};

type Run = { readonly written: Written; readonly hours: readonly HourRow[]; readonly outcomes: AppendOutcome[] };

async function run(
  { numbers, monitors: { watchOf }, settle, backlog }: AppenderDeps,
  appends: readonly Append[],
  read: Reader,
): Promise<Run> {
  // Another batch may draw while this one waits.
  const count = appends.reduce((sum, append) => sum + tracesOf(append).length, 0);
  while (!numbers.has(count)) await numbers.reserve(count);
  const drawSequence = (insertedAtMs: number) => sequenceOf(insertedAtMs, numbers.draw());
  const asked = { read, drawSequence, watchOf, settle, backlog, ...LOG_ENDS };
  const { tables, written, countHours } = createWorkingSet(asked);
  const outcomes = appends.map((append) => apply(tables, append));
  return { written, hours: countHours(), outcomes };
}

type Batch = {
  readonly appends: readonly Append[];
  readonly projects: readonly number[];
  /** Whether nobody may change monitors before the end. */
  readonly holds: boolean;
};

type Stored = Pick<Run, 'written' | 'outcomes'>;

async function storeAsNew(deps: AppenderDeps, { appends, projects, holds }: Batch): Promise<Stored> {
  return await deps.lane.hold((client) =>
    runTransaction(client, async (transaction) => {
      if (holds) await deps.monitors.hold(transaction, projects);
      // Not before there is a connection: a new one makes numbers that were drawn worthless.
      const { written, hours, outcomes } = await run(deps, appends, findNothing);
      writeBatch(transaction, deps.rowTypes, { ...written, hours });
      deps.monitors.check(transaction, projects);
      return { written, outcomes };
    }),
  );
}

/** What is there is read and locked, and the batch applied to that. */
async function storeOnKnown(deps: AppenderDeps, { appends, projects, holds }: Batch): Promise<Stored> {
  return await deps.lane.hold((client) =>
    runTransaction(client, async (transaction) => {
      if (holds) await deps.monitors.hold(transaction, projects);
      const known = createKnownRows();
      // What every run asks for first.
      for (const append of appends) {
        for (const trace of tracesOf(append)) {
          known.read('findTrace', trace);
          known.read('findLogHead', trace);
        }
        if ('fence' in append) {
          // In the order in which appends to the trace lock the two.
          if (append.outcome.kind === 'store') known.read('findTrace', append.outcome.append);
          known.read('findJob', append);
        }
        if ('organizationNumber' in append) known.read('findLogHead', append);
      }
      for (;;) {
        await known.readMissing(transaction);
        const { written, hours, outcomes } = await run(deps, appends, known.read);
        if (known.isMissingAny()) continue;
        writeBatch(transaction, deps.rowTypes, { ...written, hours });
        deps.monitors.check(transaction, projects);
        return { written, outcomes };
      }
    }),
  );
}
