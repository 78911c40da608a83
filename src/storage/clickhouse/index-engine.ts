/** ClickHouse as the index of traces of a database. */

import { Fault } from '../../domain/fault.ts';
import type { IndexReads } from '../reads.ts';
import { createIndexSteps, type IndexSource, type StepDone } from '../search/index-steps.ts';
import { openClickHouse } from './client.ts';
import { refuseRefusal, refuseUnfit, type ServerFacts } from './fitness.ts';
import { createIndexPlace, purgeRemoved } from './index-place.ts';
import { createIndexedSums } from './indexed-sums.ts';
import { refuseOtherTables } from './schema.ts';
import { createTraceIndex } from './trace-index.ts';

export type IndexEngine = {
  readonly reads: IndexReads;
  indexSome(): Promise<StepDone>;
  /** How many traces the index lacks because it is new; about. */
  countUnbuilt(): Promise<number>;
  close(): Promise<void>;
};

/** What the server tells about itself. Throws StartError for one that cannot be used, and what went wrong while it is away. */
export async function inspectClickHouse(address: string): Promise<ServerFacts> {
  const clickHouse = openClickHouse(address);
  try {
    const facts = await refuseUnfit(clickHouse).catch(refuseRefusal);
    await refuseOtherTables(clickHouse).catch(refuseRefusal);
    return facts;
  } catch (error) {
    // The Fault is for clients, and does not say why.
    throw error instanceof Fault && error.cause instanceof Error ? error.cause : error;
  } finally {
    await clickHouse.close();
  }
}

const STEP = { tracesPerStep: 2_048, readMaxMs: 1_000 };
/** What is removed is gone from the disk within a day. */
const PURGE_INTERVAL_MS = 12 * 3_600_000;
const PURGE_RETRY_MS = 600_000;
/** A step between both reads of the state makes it look like that of another database. */
const LOOKS_MAX = 3;

export function openClickHouseIndex(address: string, source: IndexSource): IndexEngine {
  const clickHouse = openClickHouse(address);
  const place = createIndexPlace(clickHouse);
  const steps = createIndexSteps(source, place, STEP);
  const openedAtMs = performance.now();
  let purgedAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let wasDone = false;
  let last: Promise<unknown> = Promise.resolve();

  /** Null: the tables are of another database, or of another time of it. */
  async function ownState() {
    for (let look = 1; look <= LOOKS_MAX; look += 1) {
      const step = await source.readStep();
      const state = await place.readState();
      if (state !== null && step !== null && (state.step === step || state.previous === step)) return state;
    }
    return null;
  }

  async function isBuilt(): Promise<boolean> {
    const state = await ownState();
    return state !== null && state.walkedTo >= state.walkEnd;
  }

  /** While steps are left, it waits for them, but no longer than for half an interval more. */
  function isPurgeDue(nowMs: number): boolean {
    if (nowMs - triedAtMs < PURGE_RETRY_MS) return false;
    const isOverdue = nowMs - Math.max(purgedAtMs, openedAtMs) >= 1.5 * PURGE_INTERVAL_MS;
    return isOverdue || (wasDone && nowMs - purgedAtMs >= PURGE_INTERVAL_MS);
  }

  async function indexSome(): Promise<StepDone> {
    const nowMs = performance.now();
    // Before a step, which is not lost where this fails.
    if (isPurgeDue(nowMs)) {
      triedAtMs = nowMs;
      if (await purgeRemoved(clickHouse)) purgedAtMs = nowMs;
    }
    const done = await steps.next();
    wasDone = done.isDone;
    return done;
  }

  return {
    reads: {
      index: createTraceIndex(clickHouse, isBuilt),
      indexedSums: createIndexedSums(clickHouse, isBuilt),
    },
    indexSome() {
      // One after the other: a step goes on even if its caller has stopped waiting.
      const step = last.then(indexSome);
      last = step.catch(() => undefined);
      return step;
    },
    async countUnbuilt() {
      const state = await ownState();
      const end = state === null ? await source.findEnd() : state.walkEnd;
      return Math.max(0, source.countOf(end) - source.countOf(state?.walkedTo ?? 0));
    },
    close: clickHouse.close,
  };
}
