/** The thread for reads that may take long: whatever they look at, the thread that takes in traces goes on. */

import { runAtOnce } from '../../../domain/steps.ts';
import { openReadHandle, type ReadLane } from './connection.ts';
import { createSpendReads } from './spend-reader.ts';
import { input, serveCalls } from './thread-serve.ts';
import { createAnalytics, createSearch, createTraceReader } from './trace-reader.ts';

const db = openReadHandle(input.file);
// Errors get their meaning where codes are still known: in what answers.
const readHere: ReadLane = async (read) => read();
serveCalls(
  {
    ...createTraceReader(db, readHere, async (steps) => runAtOnce(steps)),
    ...createSearch(db, readHere),
    ...createAnalytics(db, readHere),
    ...createSpendReads(db, readHere),
  },
  () => void db.close(),
);
