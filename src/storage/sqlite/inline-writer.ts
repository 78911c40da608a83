/** The writer in the calling thread, for databases that live in memory. */

import type { Core } from './core.ts';
import { isStorageFailure, storageFault } from './failures.ts';
import type { CallWriter } from './writer.ts';

export function callInline({ verbs }: Core): CallWriter {
  const call = async (verb: keyof Core['verbs'], ...args: readonly unknown[]): Promise<unknown> => {
    const run = verbs[verb] as (...args: readonly unknown[]) => Promise<unknown>;
    try {
      return await run(...args);
    } catch (error) {
      throw isStorageFailure(error) ? storageFault(error) : error;
    }
  };
  return call as CallWriter;
}
