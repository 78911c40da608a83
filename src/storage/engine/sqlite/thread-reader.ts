/** Long reads in a thread of their own, which starts with the first read and again after it died. */

import type { Worker } from 'node:worker_threads';
import type { SumReads } from '../../reads.ts';
import type { StatementRooms } from '../../statements/statement.ts';
import type { WholeTraceReads } from '../../traces/trace-reads.ts';
import { type KeptMatch, sendFiltersOnce } from './kept-filters.ts';
import type { SearchWork } from './search-steps.ts';
import { createThreadCalls, endThread, refusal, spawnThread } from './thread-calls.ts';

/** The reads that the thread serves. */
export type LongReads = WholeTraceReads & SumReads;
type Served = Omit<LongReads, 'match'> & SearchWork & { readonly match: KeptMatch };

type ThreadReaderOptions = {
  readonly spawn: () => Worker;
  /** Longer reads are refused, and a thread that answers nothing else meanwhile is terminated. */
  readonly readMaxMs?: number;
};

const READS_PENDING_MAX = 256;
// In MiB. One read holds far less; without a bound the garbage would grow to several times that.
const HEAP_MAX = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
const READ_MAX_MS = 30_000;

export function spawnReader(file: string, statements: StatementRooms, telemetryUrl: string | null = null): Worker {
  return spawnThread({ thread: 'reader', file, statements, telemetryUrl }, HEAP_MAX);
}

export type ThreadReader = ReturnType<typeof createThreadReader>;

export function createThreadReader({ spawn, readMaxMs = READ_MAX_MS }: ThreadReaderOptions) {
  const calls = createThreadCalls(readMaxMs);
  let thread: Worker | null = null;
  let closing = false;

  function start(): Worker {
    const worker = spawn();
    let failure: unknown = null;
    worker.on('message', calls.settle);
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => {
      thread = null;
      calls.rejectAll(failure);
    });
    return worker;
  }

  const call = <V extends keyof Served>(verb: V) =>
    (async (...args: readonly unknown[]) => {
      if (closing) throw refusal('The store is closed.');
      if (calls.countPending() >= READS_PENDING_MAX) throw refusal('Too much is being read; try again.');
      thread ??= start();
      return await calls.send(thread, verb, args);
    }) as unknown as Served[V];
  return {
    /** Each read rejects with the unavailable Fault when the thread has ended, is overloaded or too slow. */
    reads: {
      outline: call('outline'),
      digest: call('digest'),
      sums: call('sums'),
      calls: call('calls'),
      spanOrder: call('spanOrder'),
      spanIdsOfType: call('spanIdsOfType'),
      evaluationOrder: call('evaluationOrder'),
      find: call('find'),
      listValues: call('listValues'),
      summarise: call('summarise'),
      statsOfUser: call('statsOfUser'),
      summariseEvaluations: call('summariseEvaluations'),
      listGroups: call('listGroups'),
      summariseFeedback: call('summariseFeedback'),
      sum: call('sum'),
      findUnsummed: call('findUnsummed'),
      planSpend: call('planSpend'),
      // The triggers and one live tail of each project call this, one call after the other.
      match: sendFiltersOnce(call('match')),
    } satisfies LongReads,
    /** These fail in the same way. */
    searchWork: { indexSome: call('indexSome'), countUnbuilt: call('countUnbuilt') } satisfies SearchWork,
    /** Waits for reads that have begun, as long as a read may take, and refuses new ones. */
    close: async () => {
      closing = true;
      await endThread(thread, readMaxMs);
    },
  };
}
