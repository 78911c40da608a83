/** What the main thread and the writer's thread say to each other. */

import type { WriterVerbs } from './core.ts';

export type WriterThreadInput = {
  readonly file: string;
  /** Null: the process keeps no cache of compiled code. */
  readonly compileCacheFolder: string | null;
};

export type Call = {
  readonly id: number;
  readonly verb: keyof WriterVerbs;
  readonly args: readonly unknown[];
};

/** Answered by the end of the thread. */
export const CLOSE = 'close';

export type Reply =
  | { readonly kind: 'ready' }
  /** The database cannot be opened; the message is for the operator. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  /** Errors lose their codes between threads, so the writer says what it was. */
  | { readonly kind: 'failed'; readonly id: number; readonly isStorageFailure: boolean; readonly error: Error }
  | { readonly kind: 'warning'; readonly message: string };
