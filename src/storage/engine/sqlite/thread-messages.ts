/** What the main thread and the threads of the writer and of long reads say to each other. */

import type { WholeTraceReads } from '../../reading/trace-reads.ts';
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

export type ReaderThreadInput = WriterThreadInput;

export type ReadCall = {
  readonly id: number;
  readonly verb: keyof WholeTraceReads;
  readonly args: readonly unknown[];
};

/** Answered by the end of the thread. */
export const CLOSE = 'close';

export type Reply =
  | { readonly kind: 'ready' }
  /** The database cannot be opened; the message is for the operator. */
  | { readonly kind: 'refused'; readonly message: string }
  | ReadReply;

export type ReadReply =
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  /** Errors lose their codes between threads, so the thread says what it was. */
  | { readonly kind: 'failed'; readonly id: number; readonly isStorageFailure: boolean; readonly error: Error };
