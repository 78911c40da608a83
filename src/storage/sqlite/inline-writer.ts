/** The writer in the calling thread, for databases that live in memory. */

import type { Core } from './core.ts';
import { isStorageFailure, storageFault } from './failures.ts';
import type { CallWriter, Writer } from './writer.ts';

export function createInlineWriter(core: Core): Writer {
  const call = async (verb: keyof Core['verbs'], ...args: readonly unknown[]): Promise<unknown> => {
    const run = core.verbs[verb] as (...args: readonly unknown[]) => Promise<unknown>;
    try {
      return await run(...args);
    } catch (error) {
      throw isStorageFailure(error) ? storageFault(error) : error;
    }
  };
  return { call: call as CallWriter, close: () => core.close() };
}
