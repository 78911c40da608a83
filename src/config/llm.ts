/** The settings of the language model that evaluators call. */

import { type ConfigReader, readHttpUrl, readInteger } from './reader.ts';

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

const TIMEOUT_MS = { min: 100, max: 600_000 };
const CONCURRENCY = { min: 1, max: 1000 };

export function readLlm(reader: ConfigReader): LlmSettings {
  const apiKey = reader.text('SPANDREL_LLM_API_KEY');
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    reader.refuse('SPANDREL_LLM_API_KEY must be printable ASCII without spaces');
  }
  return {
    baseUrl: readHttpUrl(reader, 'SPANDREL_LLM_BASE_URL')?.replace(/\/+$/, '') ?? null,
    apiKey,
    model: reader.text('SPANDREL_LLM_MODEL') ?? 'gpt-5-mini',
    timeoutMs: readInteger(reader, 'SPANDREL_LLM_TIMEOUT_MS', TIMEOUT_MS),
    concurrencyMax: readInteger(reader, 'SPANDREL_LLM_CONCURRENCY', CONCURRENCY),
  };
}
