/** The writer as the rest of the store sees it, wherever it runs. */

import type { WriterVerbs } from './core.ts';

/** Rejects with the unavailable Fault when the storage fails or the writer is gone. */
export type CallWriter = <V extends keyof WriterVerbs>(
  verb: V,
  ...args: Parameters<WriterVerbs[V]>
) => ReturnType<WriterVerbs[V]>;

export type Writer = {
  readonly call: CallWriter;
  /** Finishes what was asked for, then lets go of the database. */
  close(): Promise<void>;
};
