/** Who reviews, and how long a reviewer holds what they claim. */

import type { Actor } from '../management/audit.ts';

export const CLAIM_MS = 10 * 60_000;

/** A person is the same with any of their keys and in any session. */
export function reviewerOf({ actorKind, actorUserId, actorKeyId }: Actor): string {
  return actorUserId ?? actorKeyId ?? actorKind;
}
