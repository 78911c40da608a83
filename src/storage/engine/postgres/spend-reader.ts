/** Reading what spend is summed up from on PostgreSQL. */

import { findEventPlace, findRequest } from '../../../../gen/storage/postgres/append.ts';
import * as questions from '../../../../gen/storage/postgres/spend.ts';
import type { SpendStore } from '../../../domain/spend/spend-store.ts';
import { limitSums } from '../../search/search-limiter.ts';
import type { SpendAsking } from '../../spend/block-planner.ts';
import { createSpendBlockReads, type SpendBlockReads } from '../../spend/spend-blocks.ts';
import { createSpendSums } from '../../spend/spend-sums.ts';
import { createAsking } from './ask.ts';
import type { Lane } from './connection.ts';

/** At most so many go through logs at once: connections are few. */
export function createSpendReads(lane: Lane): SpendStore & SpendBlockReads {
  const asking = createAsking(lane, questions);
  const reading: SpendAsking = {
    ...asking,
    findRequests: (keys) => asking.ask(findRequest, keys),
    findPlaces: (keys) => asking.ask(findEventPlace, keys),
    nowMs: () => performance.now(),
  };
  const { sum } = createSpendSums(reading);
  return {
    sum: limitSums(sum),
    ...createSpendBlockReads(reading),
  };
}
