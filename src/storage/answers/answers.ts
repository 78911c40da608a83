/** Answers that the gateway keeps for requests that are sent again. */

import {
  type AnswerCacheStore,
  type CacheKey,
  type KeptAnswer,
  type NewAnswer,
  weightOf,
} from '../../domain/gateway/answer-cache.ts';
import type { QueryRunner, Transact, Transaction } from '../transaction.ts';

export type AnswerWork = ReturnType<typeof createAnswerWork>;

type StoredAnswer = CacheKey & NewAnswer & KeptAnswer & { readonly nowMs: number };

const REMOVED_AT_ONCE = 100;

/** The verb that writes. */
export function createAnswerWork(transact: Transact) {
  return { keepAnswer: (answer: StoredAnswer) => transact((tx) => keep(tx, answer)) };
}

async function keep(tx: Transaction, answer: StoredAnswer): Promise<void> {
  const { change, runQuery, queries } = tx;
  const { answers } = queries;
  const { projectNumber, hash, ttlMs, projectMaxBytes, nowMs, contentType, model, providerId, body } = answer;
  const key = { projectNumber, hash };
  const weight = weightOf(answer);
  if (weight > projectMaxBytes) return;
  await change(answers.insertBytes, { projectNumber, weight: 0 });
  const [all] = await runQuery(answers.lockBytes, { projectNumber });
  const [replaced] = await runQuery(answers.findWeight, key);
  if (all === undefined) throw new Error('what the answers of a project weigh was removed');
  const added = weight - (replaced?.weight ?? 0);
  const removed = await removeOldest(tx, { key, excess: all.weight + added - projectMaxBytes });
  const values = { contentType, model, providerId, body, weight, storedAtMs: nowMs, expiresAtMs: nowMs + ttlMs };
  await change(answers.storeAnswer, { ...key, ...values });
  await change(answers.addBytes, { projectNumber, weight: added - removed });
}

type Excess = { readonly key: CacheKey; readonly excess: number };

/** Removes the oldest answers but that of the key, until they weigh as much as the excess. Returns what they weighed. */
async function removeOldest({ change, runQuery, queries }: Transaction, { key, excess }: Excess): Promise<number> {
  const { projectNumber } = key;
  let removed = 0;
  while (removed < excess) {
    const oldest = await runQuery(queries.answers.listOldest, { projectNumber, limit: REMOVED_AT_ONCE });
    // Bytes that crossed between threads have no methods of Buffer.
    const others = oldest.filter(({ hash }) => Buffer.compare(hash, key.hash) !== 0);
    if (others.length === 0) throw new Error('the answers of a project weigh less than their sum');
    for (const { hash, weight } of others) {
      if (removed >= excess) break;
      await change(queries.answers.removeAnswer, { projectNumber, hash, beforeMs: Number.MAX_SAFE_INTEGER });
      removed += weight;
    }
  }
  return removed;
}

type AnswerDeps = QueryRunner & {
  readonly work: AnswerWork;
  /** The clock of the database. */
  readonly nowMs: () => Promise<number>;
};

export function createAnswerStore({ work, runQuery, queries, nowMs }: AnswerDeps): AnswerCacheStore {
  return {
    async findAnswer({ projectNumber, hash }) {
      const [[found], atMs] = await Promise.all([
        runQuery(queries.answers.findAnswer, { projectNumber, hash }),
        nowMs(),
      ]);
      if (found === undefined || found.expiresAtMs <= atMs) return null;
      const { expiresAtMs: _, ...answer } = found;
      return answer;
    },
    storeAnswer: async (key, answer, kept) =>
      await work.keepAnswer({ ...answer, ...key, ...kept, nowMs: await nowMs() }),
  };
}
