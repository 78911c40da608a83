/** The changes that remove a member. */

import type { RandomBytes } from '../clock.ts';
import { type Actor, auditRecord } from '../management/audit.ts';
import type { ApiKeyRecord, MemberRecord, RoleBindingRecord } from '../management/management.ts';
import type { Proposal } from '../management/optimistic-commit.ts';

type Leaving = {
  readonly member: MemberRecord;
  readonly held: readonly RoleBindingRecord[];
  /** The member's personal keys, revoked ones included. */
  readonly keys: readonly ApiKeyRecord[];
};

type Means = { readonly actor: Actor; readonly nowMs: number; readonly random: RandomBytes };

/**
 * Removes the member with all bindings. The keys stay stored as revoked, so that they stay invalid if the member is
 * added again with the same e-mail address.
 */
export function planRemoval({ member, held, keys }: Leaving, means: Means): NonNullable<Proposal<void>['change']> {
  const { actor, nowMs } = means;
  const { userId } = member;
  const working = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  return {
    removedMembers: [{ userId }],
    removedRoleBindings: held.map(({ id }) => ({ userId, id })),
    apiKeys: working.map((key) => ({
      ...key,
      revokedAtMs: nowMs,
      previousSecretHash: null,
      previousSecretUntilMs: null,
    })),
    audit: [
      auditRecord(actor, { action: 'member.remove', targetType: 'member', targetId: userId }, means),
      ...working.map(({ id }) =>
        auditRecord(actor, { action: 'apiKey.revoke', targetType: 'apiKey', targetId: id }, means),
      ),
    ],
  };
}
