/** How reads reach their handle. */

import { isStorageFailure, storageFault } from './failures.ts';

/**
 * Runs one synchronous read. It sees every commit acknowledged before, and no read transaction outlives it: one that
 * stayed open would let the log file grow without bound.
 */
export type ReadLane = <T>(read: () => T) => Promise<T>;

/** For a handle that only reads: nothing is in its way. */
export const readAtOnce: ReadLane = async (read) => {
  try {
    return read();
  } catch (error) {
    throw isStorageFailure(error) ? storageFault(error) : error;
  }
};
