/** The records that requests leave beside what they do, and their end with the process. */

import { createKeyUse } from '../domain/keys/key-use.ts';
import { createIdempotency } from '../domain/management/idempotency.ts';
import { createRefusals } from '../domain/management/refusal-log.ts';
import { waitUnref } from '../scheduling/schedule.ts';
import type { Deps } from './deps.ts';

const FLUSH_MAX_MS = 2_000;

/** Records about requests: the use of keys, refusals, and idempotency keys. */
export function createRequestRecords({
  store: { management },
  rootKeys: { encryptionKeys },
  clock,
  retentionNowMs,
  random,
  log,
}: Deps) {
  const warn = (message: string) => (error: unknown) => log.warn({ err: error }, message);
  return {
    keyUse: createKeyUse({
      store: management,
      pause: waitUnref,
      onError: warn('the use of keys could not be stored'),
    }),
    refusals: createRefusals({
      store: management,
      clock,
      random,
      pause: waitUnref,
      onError: warn('a refusal could not be stored'),
    }),
    idempotency: createIdempotency({
      store: management,
      encryptionKeys,
      random,
      retentionNowMs,
      onReleaseError: warn('an idempotency key could not be freed'),
    }),
  };
}

/** Waits until the records are stored, but not for a store that hangs. */
export async function flushRequestRecords({
  keyUse,
  refusals,
}: ReturnType<typeof createRequestRecords>): Promise<void> {
  const enough = new AbortController();
  const stored = Promise.all([keyUse.stop(), refusals.stop()]);
  await Promise.race([stored, waitUnref(FLUSH_MAX_MS, enough.signal)]);
  enough.abort();
}
