/** The settings of the evaluators that run in this process. */

import type { JobQueueOptions } from '../domain/evaluations/jobs.ts';
import { type ConfigReader, readInteger } from './reader.ts';

export type EvaluatorSettings = {
  /** Evaluations of monitors that this process runs at once. */
  readonly concurrency: number;
  /** How long traces must be unchanged before monitors evaluate them. */
  readonly jobQueue: JobQueueOptions;
  /** Threads for evaluators that would block the event loop; each is started when it is needed. */
  readonly threads: number;
  /** The timeout of one run. */
  readonly timeoutMs: number;
};

const CONCURRENCY = { min: 1, max: 1000 };
/** A trace never waits longer than half a minute. */
const UNCHANGED_MS = { min: 0, max: 30_000 };
/** Each takes a row of about a hundred bytes. */
const BACKLOG = { min: 1, max: 100_000_000 };
const THREADS = { min: 1, max: 64 };
const TIMEOUT_MS = { min: 10, max: 60_000 };

export function readEvaluators(reader: ConfigReader): EvaluatorSettings {
  return {
    concurrency: readInteger(reader, 'SPANDREL_EVALUATION_CONCURRENCY', CONCURRENCY),
    jobQueue: {
      rootedMs: readInteger(reader, 'SPANDREL_MONITOR_SETTLE_MS', UNCHANGED_MS),
      rootlessMs: readInteger(reader, 'SPANDREL_MONITOR_ROOTLESS_SETTLE_MS', UNCHANGED_MS),
      waitingMax: readInteger(reader, 'SPANDREL_MONITOR_BACKLOG_MAX', BACKLOG),
    },
    threads: readInteger(reader, 'SPANDREL_EVALUATOR_THREADS', THREADS),
    timeoutMs: readInteger(reader, 'SPANDREL_EVALUATOR_TIMEOUT_MS', TIMEOUT_MS),
  };
}
