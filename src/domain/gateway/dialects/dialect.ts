/** The dialects of model providers: the routes that speak them, and what the gateway reads of requests and answers. */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import type { RequestUsage } from '../../events/request-content.ts';
import type { RequestSize } from '../estimate.ts';

export type RouteKind = 'chat' | 'responses' | 'embeddings' | 'messages' | 'count_tokens';
export type Dialect = 'openai' | 'anthropic';

export function dialectOf(route: RouteKind): Dialect {
  return route === 'messages' || route === 'count_tokens' ? 'anthropic' : 'openai';
}

/** A value with its type, as spans hold their inputs and outputs. */
export type TypedInput = { readonly type: 'chat_messages' | 'text' | 'json'; readonly value: LosslessJson };

/** What the gateway reads of the body of a request. */
export type ReadBody = {
  readonly model: string;
  readonly isStreamed: boolean;
  /** Responses: `background` is true. */
  readonly isBackground: boolean;
  /** Chat: `stream_options.include_usage` is true. */
  readonly asksForUsage: boolean;
  /** `user` (OpenAI) or `metadata.user_id` (Messages), 1..256 characters; null: none. */
  readonly endUserId: string | null;
  readonly size: BodySize;
  /** The messages or the input as the span shows them; instructions beside the messages lead them. */
  readonly input: TypedInput;
  /** The other members as sent; the span has them as params. */
  readonly params: LosslessObject;
};

/** The part of the size that the body tells; the rest depends on the model. */
export type BodySize = Pick<
  RequestSize,
  'textBytes' | 'arrayTokens' | 'choices' | 'outputTokensMax' | 'unboundedParams'
>;

export type BodyProblem = {
  readonly code: 'missing_model' | 'invalid_request';
  readonly message: string;
  readonly param: string | null;
};

/** Tokens that have prices of their own. */
export type PricedParts = {
  /** Part of the input. */
  readonly inputAudioTokens: number;
  /** Part of the output. */
  readonly outputAudioTokens: number;
  /** Parts of what was written to a cache, by how long that lives. */
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
};

export const NO_PARTS: PricedParts = {
  inputAudioTokens: 0,
  outputAudioTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
};

export type AnswerFacts = {
  /**
   * As the provider tells; null: it told none. In a stream of Messages that is not complete, the output tokens are those
   * at its start.
   */
  readonly usage: RequestUsage | null;
  readonly parts: PricedParts;
  /** The service tier that served the request, as the provider names it; null: not told. */
  readonly serviceTier: string | null;
  /** Whether the input tokens contain the cached ones: OpenAI's do, Anthropic's do not. */
  readonly isCachedInInput: boolean;
  /** UTF-8 bytes of the generated text, tool arguments and reasoning passed on so far. */
  readonly outputBytes: number;
  /** Whether the end was seen that the dialect defines. */
  readonly isComplete: boolean;
  /** Whether any generated token was seen. */
  readonly hasOutput: boolean;
  /** The answer as the span shows it, at most 1 MiB of text; null: nothing came, or it was not captured. */
  readonly output: TypedInput | null;
  /** Of an answer that guardrails judge: its texts that `output` does not have. */
  readonly others: readonly string[];
  /** Whether `output` and `others` have all text: not when some was cut, or what came could not be read. */
  readonly isWhole: boolean;
  /** As the provider names it. */
  readonly model: string | null;
  /** Of an error event inside the stream, or of an answer that is an error. */
  readonly error: AnswerError | null;
};

export type AnswerError = { readonly type: string | null; readonly message: string | null };
