/** The thread for long reads, so that the thread that accepts traces never waits for them. */

import { runWithoutPauses } from '../../../domain/steps.ts';
import { openReadHandle, type RunRead } from './connection.ts';
import { createReads, createTraceReader } from './readers.ts';
import { input, serveCalls } from './thread-serve.ts';

const db = openReadHandle(input.file);
// Errors are translated by serveCalls, where their codes are still known.
const readHere: RunRead = async (read) => read();
serveCalls(
  {
    ...createTraceReader(db, readHere, async (steps) => runWithoutPauses(steps)),
    ...createReads(db, readHere),
  },
  () => void db.close(),
);
