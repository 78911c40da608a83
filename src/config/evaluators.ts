/** The settings of evaluators: of those that run in this process, and of the language model that the others ask. */

import type { JobQueueOptions } from '../domain/evaluations/jobs.ts';
import { type ConfigReader, readHttpUrl, readInteger } from './reader.ts';

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

export type LlmSettings = {
  /** The URL of an OpenAI-compatible endpoint, without a slash at its end; null: there is none. */
  readonly baseUrl: string | null;
  /** Sent to that endpoint as a bearer token; null: none is sent. */
  readonly apiKey: string | null;
  /** The model of evaluators that name none. */
  readonly model: string;
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** Calls of the model by this process at once. */
  readonly concurrencyMax: number;
};

const LLM_TIMEOUT_MS = { min: 100, max: 600_000 };

export function readLlm(reader: ConfigReader): LlmSettings {
  const apiKey = reader.text('SPANDREL_LLM_API_KEY');
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    reader.refuse('SPANDREL_LLM_API_KEY must be printable ASCII without spaces');
  }
  return {
    baseUrl: readHttpUrl(reader, 'SPANDREL_LLM_BASE_URL')?.replace(/\/+$/, '') ?? null,
    apiKey,
    model: reader.text('SPANDREL_LLM_MODEL') ?? 'gpt-5-mini',
    timeoutMs: readInteger(reader, 'SPANDREL_LLM_TIMEOUT_MS', LLM_TIMEOUT_MS),
    concurrencyMax: readInteger(reader, 'SPANDREL_LLM_CONCURRENCY', CONCURRENCY),
  };
}
