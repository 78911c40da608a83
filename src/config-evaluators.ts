/** The settings of the evaluators that run in this process. */

import { type ConfigReader, readInteger } from './config-reader.ts';

export type EvaluatorSettings = {
  /** For what would hold up others; none is started before it is needed. */
  readonly threads: number;
  /** Of one run. */
  readonly timeoutMs: number;
};

const THREADS = { min: 1, max: 64 };
const TIMEOUT_MS = { min: 10, max: 60_000 };

export function readEvaluators(reader: ConfigReader): EvaluatorSettings {
  return {
    threads: readInteger(reader, 'SPANDREL_EVALUATOR_THREADS', THREADS),
    timeoutMs: readInteger(reader, 'SPANDREL_EVALUATOR_TIMEOUT_MS', TIMEOUT_MS),
  };
}
