/**
 * Backfills: stored data that a migration has to rewrite, and that is rewritten in the background, in short steps. A row
 * of the database says how far each one is, so that another process goes on where one ended.
 */

import type { Clock } from '../clock.ts';

/** The progress of one backfill. */
export type Backfill = {
  readonly name: string;
  /** Where the next step begins; empty at the beginning. */
  readonly cursor: string;
  readonly rowsDone: number;
  readonly finishedAtMs: number | null;
  /** Differs for each lease: a result of an earlier lease is void. */
  readonly fence: number;
};

export type BackfillStep = {
  /** Null at the end. */
  readonly cursor: string | null;
  /** Rows that this step has looked at. */
  readonly rows: number;
};

/**
 * Rewrites some hundred rows after the cursor. It MUST leave rows that are rewritten already as they are: a step whose
 * progress was lost runs again.
 */
export type RewriteSome = (cursor: string) => Promise<BackfillStep>;

export type BackfillStore = {
  /** All backfills that this database has begun, by name. */
  list(): Promise<readonly Backfill[]>;
  /** Leases an unfinished backfill with one of these names. MUST return null while another process has each of them. */
  lease(names: readonly string[], lease: { nowMs: number; untilMs: number }): Promise<Backfill | null>;
  /** Stores the progress of a step and ends its lease. MUST change nothing when another lease has begun since. */
  advance(progress: Backfill): Promise<boolean>;
};

/** Longer than any step. */
const LEASE_MS = 60_000;
const REPORT_INTERVAL_MS = 60_000;

type BackfillDeps = {
  readonly store: BackfillStore;
  /** What rewrites the data of each backfill. */
  readonly rewrites: Readonly<Record<string, RewriteSome>>;
  readonly clock: Clock;
  readonly log: { info(fields: object, message: string): void };
};

/** Runs one step of some backfill; `done` when there is none that this process could go on with. */
export function createBackfills({ store, rewrites, clock, log }: BackfillDeps): { step(): Promise<'more' | 'done'> } {
  let reportedAtMs = Number.NEGATIVE_INFINITY;

  function report({ name, cursor, rowsDone, finishedAtMs }: Backfill): void {
    const nowMs = clock();
    if (finishedAtMs !== null) log.info({ backfill: name, rows: rowsDone }, 'a backfill has ended');
    else if (cursor === '') log.info({ backfill: name }, 'a backfill begins');
    else if (nowMs - reportedAtMs >= REPORT_INTERVAL_MS) {
      log.info({ backfill: name, rows: rowsDone }, 'a backfill goes on');
    } else return;
    reportedAtMs = nowMs;
  }

  return {
    async step() {
      const nowMs = clock();
      const names = Object.keys(rewrites);
      if (names.length === 0) return 'done';
      const leased = await store.lease(names, { nowMs, untilMs: nowMs + LEASE_MS });
      const rewrite = leased === null ? undefined : rewrites[leased.name];
      if (leased === null || rewrite === undefined) return 'done';
      if (leased.cursor === '') report(leased);
      const { cursor, rows } = await rewrite(leased.cursor);
      const progress = {
        ...leased,
        cursor: cursor ?? leased.cursor,
        rowsDone: leased.rowsDone + rows,
        finishedAtMs: cursor === null ? clock() : null,
      };
      if (await store.advance(progress)) report(progress);
      return 'more';
    },
  };
}
