/** The exact cache of answers: looks requests up, and keeps answers as they pass. */

import {
  type AnswerCacheStore,
  type CachedAnswer,
  type CacheKey,
  cacheKeyOf,
  isCacheable,
  mayUseCache,
  PROJECT_MAX_BYTES,
} from '../domain/gateway/answer-cache.ts';
import { createAssembler } from '../domain/gateway/assembled-answer.ts';
import { type AnswerForm, streamAnswer } from '../domain/gateway/cached-stream.ts';
import type { ReadBody, RouteKind } from '../domain/gateway/dialects/dialect.ts';
import { rewriteBody } from '../domain/gateway/dialects/rewrite-body.ts';
import type { VirtualKeyConfig } from '../domain/virtual-keys/virtual-key.ts';
import type { Answer, Candidate } from './attempts.ts';

type CacheDeps = {
  readonly store: AnswerCacheStore;
  readonly onError: (error: unknown, message: string) => void;
};

/** A request as the cache knows it; null: it is not cached. */
export type CacheUse = {
  readonly key: CacheKey;
  readonly route: RouteKind;
  readonly mayRead: boolean;
  readonly mayStore: boolean;
};

type Asked = {
  readonly config: VirtualKeyConfig;
  readonly cacheControl: string | undefined;
  readonly projectNumber: number;
  readonly route: RouteKind;
  readonly bytes: Buffer;
  readonly candidate: Candidate;
};

const KEPT_PARTS_MAX_BYTES = 1024 * 1024;
const MS_PER_SECOND = 1_000;

/** Collects an answer as it passes. */
export type Keeping = {
  readonly push: (part: Buffer) => void;
  /** The answer that does not stream; null: it cannot be kept. */
  readonly end: () => Buffer | null;
};

export type CachedAnswers = ReturnType<typeof createCachedAnswers>;

export function createCachedAnswers({ store, onError }: CacheDeps) {
  return {
    useOf({ config, cacheControl, projectNumber, route, bytes, candidate }: Asked): CacheUse | null {
      if (config.cache.mode === 'off' || config.capture !== 'full') return null;
      const use = mayUseCache(cacheControl);
      if (!use.mayRead && !use.mayStore) return null;
      const { provider, model } = candidate;
      const key = cacheKeyOf({ projectNumber, route, kind: provider.kind, body: rewriteBody(bytes, { model }) });
      return key === null ? null : { key, route, ...use };
    },
    /** A cache that cannot be read has nothing. */
    async find({ key }: CacheUse): Promise<CachedAnswer | null> {
      return await store.findAnswer(key).catch((error: unknown) => {
        onError(error, 'the cache of answers could not be read');
        return null;
      });
    },
    async keep({ key, route }: CacheUse, { config, ...kept }: Kept): Promise<void> {
      const { answer, bytes, isComplete, candidate } = kept;
      const { status } = answer;
      if (bytes === null || !isCacheable({ route, status, bytes, isComplete, config })) return;
      const stored = {
        contentType: 'application/json',
        body: bytes,
        model: candidate.model,
        providerId: candidate.provider.id,
      };
      const term = { ttlMs: config.cache.ttlSeconds * MS_PER_SECOND, projectMaxBytes: PROJECT_MAX_BYTES };
      await store.storeAnswer(key, stored, term).catch((error: unknown) => {
        onError(error, 'an answer could not be kept in the cache');
      });
    },
  };
}

type Kept = {
  readonly config: VirtualKeyConfig;
  readonly answer: Answer;
  readonly bytes: Buffer | null;
  readonly isComplete: boolean;
  readonly candidate: Candidate;
};

/** An answer from the cache as the caller asked for it; null: it has no such form. */
export function answerFrom(cached: CachedAnswer, route: RouteKind, body: ReadBody): Answer | null {
  if (!body.isStreamed) return { status: 200, headers: { 'content-type': cached.contentType }, body: cached.body };
  const form = formOf(route);
  const stream = form && streamAnswer(form, cached.body, { includesUsage: body.asksForUsage });
  return stream && { status: 200, headers: { 'content-type': 'text/event-stream' }, body: stream };
}

export function keepAnswer(route: RouteKind, isStreamed: boolean): Keeping {
  const form = formOf(route);
  if (isStreamed) return form === null ? { push: () => undefined, end: () => null } : createAssembler(form);
  const parts: Buffer[] = [];
  let bytes = 0;
  return {
    push(part) {
      bytes += part.length;
      if (bytes <= KEPT_PARTS_MAX_BYTES) parts.push(part);
      else parts.length = 0;
    },
    end: () => (bytes <= KEPT_PARTS_MAX_BYTES ? Buffer.concat(parts) : null),
  };
}

function formOf(route: RouteKind): AnswerForm | null {
  return route === 'chat' || route === 'responses' || route === 'messages' ? route : null;
}
