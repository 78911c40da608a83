/** Queries of the answers that the gateway keeps. */

import type { CacheKey } from '../../domain/gateway/answer-cache.ts';
import { columns, insertNew, pick, rowsOf, select, upsert } from '../plain-queries.ts';
import { change, query } from '../queries.ts';

type OfProject = Pick<CacheKey, 'projectNumber'>;

const KEY = ['projectNumber', 'hash'] as const;
const ANSWER = ['contentType', 'body', 'model', 'providerId', 'storedAtMs', 'expiresAtMs'] as const;

export const findAnswer = select('CachedAnswer', KEY, ANSWER);

export const findWeight = select('CachedAnswer', KEY, ['weight']);

export const storeAnswer = upsert('CachedAnswer');

export const insertBytes = insertNew('CachedBytes');

/** What all answers of a project weigh. Locked before any of them changes. */
export const lockBytes = query<OfProject>()((db, { projectNumber }, { lock }) =>
  lock(rowsOf(db, 'CachedBytes', { projectNumber }).select('weight as weight')),
);

export const addBytes = change<OfProject & { readonly weight: number }>((db, { projectNumber, weight }, { update }) =>
  update(db, 'CachedBytes', { projectNumber }).set(({ eb }) => ({ weight: eb('weight', '+', weight) })),
);

export const listOldest = query<OfProject & { readonly limit: number }>()((db, { projectNumber, limit }) =>
  rowsOf(db, 'CachedAnswer', { projectNumber })
    .select(columns('CachedAnswer', 'hash', 'weight'))
    .orderBy('storedAtMs')
    .orderBy('hash')
    .limit(limit),
);

/** The answers of any project that expired before an instant, first those that expired first. */
export const listExpired = query<{ readonly beforeMs: number; readonly limit: number }>()((db, { beforeMs, limit }) =>
  db
    .selectFrom('CachedAnswer')
    .where('expiresAtMs', '<', beforeMs)
    .select(columns('CachedAnswer', ...KEY, 'weight'))
    .orderBy('expiresAtMs')
    .limit(limit),
);

/** Removes an answer that expired before an instant. */
export const removeAnswer = change<CacheKey & { readonly beforeMs: number }>((db, params, { remove }) =>
  remove(db, 'CachedAnswer', pick(params, ...KEY)).where('expiresAtMs', '<', params.beforeMs),
);
