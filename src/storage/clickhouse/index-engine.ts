/** ClickHouse as the index of traces of a database. */

import type { IndexReads } from '../reads.ts';
import { createIndexSteps, type IndexSource, type StepDone } from '../search/index-steps.ts';
import { openClickHouse } from './client.ts';
import { refuseUnfit, type ServerFacts } from './fitness.ts';
import { createIndexPlace, purgeRemoved } from './index-place.ts';
import { createIndexedSums } from './indexed-sums.ts';
import { createTraceIndex } from './trace-index.ts';

export type IndexEngine = {
  readonly reads: IndexReads;
  /** One call after the other. */
  indexSome(): Promise<StepDone>;
  /** How many traces the index lacks because it is new; about. */
  countUnbuilt(): Promise<number>;
  close(): Promise<void>;
};

/** What the server tells about itself. Throws StartError for one that cannot be used, and a Fault while it is away. */
export async function inspectClickHouse(address: string): Promise<ServerFacts> {
  const clickHouse = openClickHouse(address);
  try {
    return await refuseUnfit(clickHouse);
  } finally {
    await clickHouse.close();
  }
}

const STEP = { tracesPerStep: 2_048, readMaxMs: 1_000 };
/** What is removed is gone from the disk within a day. */
const PURGE_INTERVAL_MS = 12 * 3_600_000;
/** A step between both reads of the state makes it look like that of another database. */
const LOOKS_MAX = 3;

export function openClickHouseIndex(address: string, source: IndexSource): IndexEngine {
  const clickHouse = openClickHouse(address);
  const place = createIndexPlace(clickHouse);
  const steps = createIndexSteps(source, place, STEP);
  let purgedAtMs = Number.NEGATIVE_INFINITY;
  let wasDone = false;

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

  return {
    reads: {
      index: createTraceIndex(clickHouse, isBuilt),
      indexedSums: createIndexedSums(clickHouse, isBuilt),
    },
    async indexSome() {
      const nowMs = performance.now();
      // Before a step, which is not lost where this fails.
      if (wasDone && nowMs - purgedAtMs >= PURGE_INTERVAL_MS) {
        purgedAtMs = nowMs;
        await purgeRemoved(clickHouse);
      }
      const done = await steps.next();
      wasDone = done.isDone;
      return done;
    },
    async countUnbuilt() {
      const state = await ownState();
      return state === null ? await source.findEnd() : state.walkEnd - state.walkedTo;
    },
    close: clickHouse.close,
  };
}
