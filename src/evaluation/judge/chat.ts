/** One chat completion of an OpenAI-compatible endpoint, with retries. */

import type { TokenCounts } from '../../domain/pricing/usage.ts';
import { cutToCharacters } from '../../domain/text-limits.ts';
import type { LosslessObject } from '../../json/lossless-json.ts';
import { readRetryAfterMs } from '../../scheduling/retry-after.ts';
import type { Spending } from './judge-budget.ts';
import type { Exchanged, PostJson } from './post-json.ts';

type ChatReply =
  | { readonly kind: 'answer'; readonly content: string; readonly usage: TokenCounts | null }
  /** The response has no text that could be an answer. */
  | { readonly kind: 'garbage'; readonly usage: TokenCounts | null }
  | { readonly kind: 'refused'; readonly details: string }
  | { readonly kind: 'too_large'; readonly bytes: number }
  /** The budget does not cover a call; or a further attempt. */
  | { readonly kind: 'too_expensive' }
  /** The endpoint does not support `response_format`, or not this schema. */
  | { readonly kind: 'format_refused'; readonly details: string }
  | {
      readonly kind: 'failed';
      readonly errorType: 'LLM_HTTP_ERROR' | 'LLM_TIMEOUT';
      readonly details: string;
      readonly isRetryable: boolean;
    };

export type CompleteChat = (body: LosslessObject, call: ChatCall) => Promise<ChatReply>;

type ChatCall = {
  readonly signal: AbortSignal;
  /** Has to cover every attempt. */
  readonly spending: Spending;
  /** The most bytes that the body may have. */
  readonly bodyMaxBytes: number;
};

type ChatDeps = {
  readonly post: PostJson;
  /** Resolves after the delay, or when the signal is aborted. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly clock: () => number;
};

/** Before the second and the third attempt, unless the response has a Retry-After header. */
const DELAYS_MS = [500, 2000];
const RETRY_AFTER_MAX_MS = 10_000;
const DETAILS_CHARACTERS_MAX = 500;

export function createChat({ post, wait, clock }: ChatDeps): CompleteChat {
  return async (body, { signal, spending, bodyMaxBytes }) => {
    const text = JSON.stringify(body);
    const bytes = Buffer.byteLength(text);
    if (bytes > bodyMaxBytes) return { kind: 'too_large', bytes };
    for (let attempt = 0; ; attempt += 1) {
      if (!(await spending.reserve(bytes))) return { kind: 'too_expensive' };
      const exchanged = await post(text, signal);
      await spending.settle(billedUsage(exchanged));
      const delayMs = DELAYS_MS[attempt];
      if (delayMs === undefined || signal.aborted || !mayPass(exchanged)) return toReply(exchanged);
      const requestedMs = exchanged.kind === 'answered' ? readRetryAfterMs(exchanged.retryAfter ?? '', clock()) : null;
      await wait(Math.min(requestedMs ?? delayMs, RETRY_AFTER_MAX_MS), signal);
      if (signal.aborted) return toReply(exchanged);
    }
  };
}

/** Endpoints bill answers. Whether they bill calls that were given up, nobody knows. */
function billedUsage(exchanged: Exchanged): TokenCounts | 'nothing' | 'unknown' {
  if (exchanged.kind === 'broken' && !exchanged.isSent) return 'nothing';
  if (exchanged.kind !== 'answered') return 'unknown';
  if (!isSuccess(exchanged.status)) return 'nothing';
  return readUsage(memberOf(parse(exchanged.text), 'usage')) ?? 'unknown';
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a retry may succeed. */
function mayPass(exchanged: Exchanged): boolean {
  return exchanged.kind !== 'answered' || exchanged.status === 429 || exchanged.status >= 500;
}

function toReply(exchanged: Exchanged): ChatReply {
  if (exchanged.kind === 'timeout') {
    const details = `no answer within ${exchanged.afterMs} ms`;
    return { kind: 'failed', errorType: 'LLM_TIMEOUT', details, isRetryable: true };
  }
  if (exchanged.kind === 'broken') {
    return { kind: 'failed', errorType: 'LLM_HTTP_ERROR', details: exchanged.reason, isRetryable: true };
  }
  const { status, text } = exchanged;
  if (isSuccess(status)) return readCompletion(text);
  const details = describeRefusal(status, text);
  if ((status === 400 || status === 422) && /response_format|json_schema/.test(text)) {
    return { kind: 'format_refused', details };
  }
  return { kind: 'failed', errorType: 'LLM_HTTP_ERROR', details, isRetryable: mayPass(exchanged) };
}

/** Words joined by underscores, such as `model_not_found`. A key does not look like that, nor does its encoding. */
const ERROR_CODE = /^[a-z]{2,30}(?:_[a-z]{1,30}){1,7}$/;

/** The status and `error.code`, and nothing else: the endpoint may repeat the key of the operator anywhere, in any form. */
function describeRefusal(status: number, text: string): string {
  const code = memberOf(memberOf(parse(text), 'error'), 'code');
  return typeof code === 'string' && ERROR_CODE.test(code) ? `HTTP ${status}: ${code}` : `HTTP ${status}`;
}

function readCompletion(text: string): ChatReply {
  const completion = parse(text);
  const choices = memberOf(completion, 'choices');
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = memberOf(choice, 'message');
  const refusal = memberOf(message, 'refusal');
  if (typeof refusal === 'string' && refusal !== '') {
    return { kind: 'refused', details: cutToCharacters(refusal, DETAILS_CHARACTERS_MAX) };
  }
  if (memberOf(choice, 'finish_reason') === 'content_filter') {
    return { kind: 'refused', details: 'The endpoint filtered the answer.' };
  }
  const content = memberOf(message, 'content');
  const usage = readUsage(memberOf(completion, 'usage'));
  return typeof content === 'string' ? { kind: 'answer', content, usage } : { kind: 'garbage', usage };
}

function readUsage(usage: unknown): TokenCounts | null {
  const prompt = countOf(memberOf(usage, 'prompt_tokens'));
  const completion = countOf(memberOf(usage, 'completion_tokens'));
  if (prompt === null && completion === null) return null;
  return {
    prompt,
    completion,
    reasoning: countOf(memberOf(memberOf(usage, 'completion_tokens_details'), 'reasoning_tokens')),
    cacheRead: countOf(memberOf(memberOf(usage, 'prompt_tokens_details'), 'cached_tokens')),
    cacheCreation: null,
  };
}

const COUNT_MAX = 1e12;

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
