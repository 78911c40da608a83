/**
 * The exact cache: answers of providers, by the requests that they answer. An entry belongs to one project, and holds the
 * answer that does not stream; cached-stream.ts makes a stream of it.
 */

import { createHash } from 'node:crypto';
import { parseLossless } from '../../json/bounded-json.ts';
import { isArray, isObject, type LosslessJson } from '../../json/lossless-json.ts';
import type { ModelProviderKind } from '../model-providers/model-provider.ts';
import type { VirtualKeyConfig } from '../virtual-keys/virtual-key.ts';
import type { RouteKind } from './dialects/dialect.ts';
import { callsNoTool, hasEffects } from './effects.ts';

export type AnswerCacheStore = {
  /** MUST return only an answer that was stored for the project and has not expired by the clock of the database. */
  findAnswer(key: CacheKey): Promise<CachedAnswer | null>;
  /**
   * Stores or replaces an answer. The answers of a project MUST weigh at most `projectMaxBytes` together (see `weightOf`): the
   * oldest give way, and one that weighs more MUST NOT be stored. Those of other projects MUST stay.
   */
  storeAnswer(key: CacheKey, answer: NewAnswer, kept: KeptAnswer): Promise<void>;
};

export type CacheKey = {
  readonly projectNumber: number;
  /** SHA-256 */
  readonly hash: Buffer;
};

export type NewAnswer = {
  readonly contentType: string;
  readonly body: Buffer;
  /** As the provider calls it. */
  readonly model: string;
  readonly providerId: string;
};

/** `storedAtMs` is by the clock of the database. */
export type CachedAnswer = NewAnswer & { readonly storedAtMs: number };

export type KeptAnswer = { readonly ttlMs: number; readonly projectMaxBytes: number };

/** The most that the answers of a project weigh together. */
export const PROJECT_MAX_BYTES = 64 * 1024 * 1024;
export const ANSWER_MAX_BYTES = 1024 * 1024;

/** What a row and its entries in indexes take beside the body, about. */
const ROW_BYTES = 512;

export function weightOf({ body }: Pick<NewAnswer, 'body'>): number {
  return body.length + ROW_BYTES;
}

/** A larger request is not looked up: reading it and sorting its members would hold the event loop. */
const REQUEST_MAX_BYTES = 1024 * 1024;
const DEPTH_MAX = 128;
const NEWLINE = '\n';

type CachedRequest = {
  readonly projectNumber: number;
  readonly route: RouteKind;
  readonly kind: ModelProviderKind;
  /** As the provider gets it: with the name that the model has there. */
  readonly body: Buffer;
};

/**
 * The key of a request, in which neither the order of its members nor how the answer is delivered counts. Null: the request is
 * too large, no JSON object of ordinary depth, or has effects, which an answer from the cache would not have.
 */
export function cacheKeyOf({ projectNumber, route, kind, body }: CachedRequest): CacheKey | null {
  if (body.length > REQUEST_MAX_BYTES) return null;
  const parsed = parseLossless(body.toString(), { depth: DEPTH_MAX });
  if (parsed.kind !== 'value' || !isObject(parsed.value) || hasEffects(route, parsed.value)) return null;
  const { stream: _, stream_options: __, ...asked } = parsed.value;
  const hash = createHash('sha256');
  hash.update(JSON.stringify([projectNumber, route, kind]) + NEWLINE + sortedText(asked));
  return { projectNumber, hash: hash.digest() };
}

/** JSON whose members are in the order of their names, and whose numbers are as written: 1 and 1.0 are two requests. */
function sortedText(value: LosslessJson): string {
  if (isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name] ?? null)}`).join(',')}}`;
}

type CacheUse = { readonly mayRead: boolean; readonly mayStore: boolean };

/** What the `cache-control` of a request allows. */
export function mayUseCache(cacheControl: string | undefined): CacheUse {
  const directives = (cacheControl ?? '').split(',').map((each) => each.trim().toLowerCase());
  return { mayRead: !directives.includes('no-cache'), mayStore: !directives.includes('no-store') };
}

type FinishedAnswer = {
  readonly route: RouteKind;
  readonly status: number;
  /** The answer that does not stream; null: it was a stream that has no such form (assembled-answer.ts). */
  readonly bytes: Buffer | null;
  /** Whether all of it came. */
  readonly isComplete: boolean;
  readonly config: Pick<VirtualKeyConfig, 'cache' | 'capture'>;
};

/** Whether an answer may be stored. A key that stores no texts stores no answers. A tool that is called once must not run again. */
export function isCacheable({ route, status, bytes, isComplete, config }: FinishedAnswer): boolean {
  if (config.cache.mode !== 'exact' || config.cache.ttlSeconds <= 0 || config.capture !== 'full') return false;
  if (status !== 200 || !isComplete || bytes === null || bytes.length > ANSWER_MAX_BYTES) return false;
  return callsNoTool(route, bytes);
}
