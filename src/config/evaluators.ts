/** The settings of evaluators: of those that run in this process, and of the language model that the others ask. */

import { type ConfigReader, readHttpUrl, readInteger } from './reader.ts';

const CONCURRENCY = { min: 1, max: 1000 };
/** A trace never waits longer than half a minute. */
const UNCHANGED_MS = { min: 0, max: 30_000 };
/** Each takes a row of about a hundred bytes. */
const BACKLOG = { min: 1, max: 100_000_000 };
const THREADS = { min: 1, max: 64 };
const TIMEOUT_MS = { min: 10, max: 60_000 };

export function readEvaluators(reader: ConfigReader) {
  return {
    /** Evaluations of monitors that this process runs at once. */
    concurrency: readInteger(reader, 'SPANDREL_EVALUATION_CONCURRENCY', CONCURRENCY),
    /** How long traces must be unchanged before monitors evaluate them. */
    jobQueue: {
      rootedMs: readInteger(reader, 'SPANDREL_MONITOR_SETTLE_MS', UNCHANGED_MS),
      rootlessMs: readInteger(reader, 'SPANDREL_MONITOR_ROOTLESS_SETTLE_MS', UNCHANGED_MS),
      waitingMax: readInteger(reader, 'SPANDREL_MONITOR_BACKLOG_MAX', BACKLOG),
    },
    /** Threads for evaluators that would block the event loop; each is started when it is needed. */
    threads: readInteger(reader, 'SPANDREL_EVALUATOR_THREADS', THREADS),
    /** The timeout of one run. */
    timeoutMs: readInteger(reader, 'SPANDREL_EVALUATOR_TIMEOUT_MS', TIMEOUT_MS),
  };
}

const LLM_TIMEOUT_MS = { min: 100, max: 600_000 };

export function readLlm(reader: ConfigReader) {
  const apiKey = reader.text('SPANDREL_LLM_API_KEY');
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    reader.refuse('SPANDREL_LLM_API_KEY must be printable ASCII without spaces');
  }
  return {
    /** The URL of an OpenAI-compatible endpoint, without a slash at its end; null: there is none. */
    baseUrl: readHttpUrl(reader, 'SPANDREL_LLM_BASE_URL')?.replace(/\/+$/, '') ?? null,
    /** Sent to that endpoint as a bearer token; null: none is sent. */
    apiKey,
    /** The model of evaluators that name none. */
    model: reader.text('SPANDREL_LLM_MODEL') ?? 'gpt-5-mini',
    /** The timeout of one attempt. */
    timeoutMs: readInteger(reader, 'SPANDREL_LLM_TIMEOUT_MS', LLM_TIMEOUT_MS),
    /** Calls of the model by this process at once. */
    concurrencyMax: readInteger(reader, 'SPANDREL_LLM_CONCURRENCY', CONCURRENCY),
  };
}
