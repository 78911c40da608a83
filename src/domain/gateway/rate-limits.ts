/**
 * Rate limits of virtual keys: token buckets in memory, filled with slices of the one stored bucket of a limit, so that the sum
 * over all processes keeps to it. What a process does not use is lost, and nothing is gained by a restart.
 */

import { Fault } from '../fault.ts';
import { type GatewayRefusal, type RateDimension, UNAVAILABLE } from './refusal.ts';

/** A bucket that fills at the rate of the limit, and holds one window of it at most. */
export type RateLimit = { readonly dimension: RateDimension; readonly limit: number };

export type RateSliceStore = {
  /**
   * Takes a slice out of the bucket of a limit, which is full at its first use and fills by the clock of the database. It MUST
   * grant all that was wanted, or all that is there if that is `atLeast` or more; else nothing. It MUST return after the commit.
   */
  takeSlice(ask: RateSliceAsk): Promise<RateSlice>;
};

export type RateSliceAsk = RateLimit & {
  readonly organizationNumber: number;
  readonly virtualKeyId: string;
  readonly windowMs: number;
  readonly wanted: number;
  readonly atLeast: number;
};

export type RateSlice = {
  readonly granted: number;
  /** What the bucket holds afterwards, fractions included. */
  readonly available: number;
};

/** Whose limits they are. */
type LimitedKey = Pick<RateSliceAsk, 'organizationNumber' | 'virtualKeyId'>;

export type RatedRequest = {
  readonly key: LimitedKey;
  readonly limits: readonly RateLimit[];
  /** The estimate that counts until the usage is known. */
  readonly tokens: number;
};

const MS_PER_MINUTE = 60_000;
const MS_PER_SECOND = 1000;
const WINDOWS: Readonly<Record<RateDimension, number>> = { rpm: MS_PER_MINUTE, tpm: MS_PER_MINUTE, rpd: 86_400_000 };

// Of the limit.
const SLICE_SHARE = 0.05;
const ROUNDS_MAX = 20;

/**
 * `rest` is below zero where requests used more tokens than they had reserved. What is left of a slice after a window is lost,
 * so that a burst cannot save slices up.
 */
type Level = { readonly windowMs: number; rest: number; filledAtMs: number };

type RateLimiterDeps = {
  readonly store: RateSliceStore;
  /** A clock that is never set. */
  readonly nowMs: () => number;
};

export type RateLimiter = ReturnType<typeof createRateLimiter>;

export function createRateLimiter({ store, nowMs }: RateLimiterDeps) {
  const levels = new Map<string, Level>();
  const asked = new Map<string, Promise<RateSlice>>();

  function restOf(name: string): number {
    const level = levels.get(name);
    if (level === undefined) return 0;
    return nowMs() - level.filledAtMs > level.windowMs ? Math.min(0, level.rest) : level.rest;
  }

  function change({ name, dimension }: Pick<Need, 'name' | 'dimension'>, by: number): void {
    const level = levels.get(name) ?? { windowMs: WINDOWS[dimension], rest: 0, filledAtMs: nowMs() };
    level.rest = restOf(name) + by;
    levels.set(name, level);
  }

  async function fill(name: string, ask: RateSliceAsk): Promise<RateSlice> {
    const slice = await store.takeSlice(ask);
    if (slice.granted > 0) {
      change({ name, dimension: ask.dimension }, slice.granted);
      const level = levels.get(name);
      if (level !== undefined) level.filledAtMs = nowMs();
    }
    return slice;
  }

  async function fetchMore({ key, limits }: RatedRequest, need: Need): Promise<GatewayRefusal | null> {
    const { name, dimension, count } = need;
    const limit = limits.find((each) => each.dimension === dimension)?.limit ?? count;
    const missing = () => Math.min(limit, count - restOf(name));
    const windowMs = WINDOWS[dimension];
    const wanted = Math.max(missing(), Math.ceil(limit * SLICE_SHARE));
    const ask = { ...key, dimension, limit, windowMs, atLeast: missing(), wanted };
    const asks = asked.get(name) ?? fill(name, ask).finally(() => asked.delete(name));
    asked.set(name, asks);
    const { granted, available } = await asks;
    if (granted > 0 || available >= missing()) return null;
    const waitMs = ((missing() - available) * windowMs) / limit;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / MS_PER_SECOND));
    return { code: 'rate_limited', httpStatus: 429, dimension, retryAfterSeconds };
  }

  return {
    /** Null when the request passes all limits; then it has used them. */
    async pass(request: RatedRequest): Promise<GatewayRefusal | null> {
      const needs = request.limits.map(({ dimension, limit }) => toNeed(request, { dimension, limit }));
      for (let round = 1; ; round += 1) {
        const short = needs.find(({ name, count }) => restOf(name) < count);
        if (short === undefined) {
          for (const need of needs) change(need, -need.count);
          return null;
        }
        if (round > ROUNDS_MAX) {
          return { code: 'rate_limited', httpStatus: 429, dimension: short.dimension, retryAfterSeconds: 1 };
        }
        try {
          const refusal = await fetchMore(request, short);
          if (refusal !== null) return refusal;
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== 'unavailable') throw error;
          return UNAVAILABLE;
        }
      }
    },
    /** Replaces the estimate of a request that passed by the tokens that it used. */
    correct(request: RatedRequest, usedTokens: number): void {
      for (const limit of request.limits) {
        if (limit.dimension !== 'tpm') continue;
        const need = toNeed(request, limit);
        change(need, need.count - usedTokens);
      }
    },
    /** Forgets levels that no request can use; to be called now and then. */
    sweep(): void {
      for (const [name, { windowMs, filledAtMs, rest }] of levels) {
        if (nowMs() - filledAtMs > windowMs && rest >= 0) levels.delete(name);
      }
    },
  };
}

type Need = { readonly name: string; readonly dimension: RateDimension; readonly count: number };

function toNeed({ key, tokens }: RatedRequest, { dimension, limit }: RateLimit): Need {
  const { organizationNumber, virtualKeyId } = key;
  // A request of more tokens than the limit takes a full bucket, and owes the rest.
  const count = dimension === 'tpm' ? Math.min(tokens, limit) : 1;
  return { name: `${organizationNumber} ${virtualKeyId} ${dimension}`, dimension, count };
}
