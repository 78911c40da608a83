/** The settings of evaluators: of those that run in this process, and of the language model that the others ask. */

import { usdTextToNano } from '../domain/pricing/money.ts';
import { type ConfigReader, readChoice, readHttpUrl, readInteger } from './reader.ts';

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

const LLM_TOKENS = { min: 1, max: 10_000_000 };
const LLM_REQUEST_BYTES = { min: 1024, max: 16 * 1024 * 1024 };
// Node's client gives up after five minutes without an answer, whatever was asked.
const LLM_TIMEOUT_MS = { min: 100, max: 300_000 };

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
    limits: {
      /** What evaluators may ask beside the default model; null: every model. */
      models: readModels(reader),
      /** The most tokens of one answer. */
      tokensMax: readInteger(reader, 'SPANDREL_LLM_MAX_TOKENS', LLM_TOKENS),
      /** The most bytes of one request to the endpoint. */
      bodyMaxBytes: readInteger(reader, 'SPANDREL_LLM_MAX_REQUEST_BYTES', LLM_REQUEST_BYTES),
    },
    budget: {
      /** For a project and day (UTC); null: no limit. */
      nanoUsd: readBudget(reader),
      /** Whether models without a price may be asked although there is a budget. */
      mayBeUnpriced: readChoice(reader, 'SPANDREL_LLM_UNPRICED', ['refuse', 'allow']) === 'allow',
    },
  };
}

function readModels(reader: ConfigReader): readonly string[] | null {
  const text = reader.text('SPANDREL_LLM_MODELS');
  if (text === null) return null;
  const models = text.split(',').map((name) => name.trim());
  if (models.includes('')) reader.refuse('SPANDREL_LLM_MODELS must be names separated by commas');
  return models;
}

function readBudget(reader: ConfigReader): number | null {
  const text = reader.text('SPANDREL_LLM_BUDGET_USD');
  if (text === null) return null;
  const nanoUsd = usdTextToNano(text);
  if (nanoUsd !== null && nanoUsd > 0) return nanoUsd;
  reader.refuse('SPANDREL_LLM_BUDGET_USD must be an amount above zero, such as 2.50');
  return null;
}
