/** Reading what spend is summed up from on SQLite. */

import { findEventPlace, findRequest } from '../../../../gen/storage/sqlite/append.ts';
import * as questions from '../../../../gen/storage/sqlite/spend.ts';
import type { SpendStore } from '../../../domain/spend/spend-store.ts';
import type { SpendAsking } from '../../spend/block-planner.ts';
import { createSpendBlockReads, type SpendBlockReads } from '../../spend/spend-blocks.ts';
import { createSpendSums } from '../../spend/spend-sums.ts';
import { createAsking } from './ask.ts';
import type { Database, ReadLane } from './connection.ts';

export function createSpendReads(db: Database, lane: ReadLane): SpendStore & SpendBlockReads {
  const asking = createAsking(db, lane, questions);
  const reading: SpendAsking = {
    ...asking,
    findRequests: async (keys) => (await Promise.all(keys.map((key) => asking.ask(findRequest, key)))).flat(),
    findPlaces: async (keys) => (await Promise.all(keys.map((key) => asking.ask(findEventPlace, key)))).flat(),
    nowMs: () => performance.now(),
  };
  return { ...createSpendSums(reading), ...createSpendBlockReads(reading) };
}
