/** Everything that ends when a member leaves. */

import { type Actor, auditRecord } from './audit.ts';
import type { RandomBytes } from './clock.ts';
import type { Decision } from './decide.ts';
import type { ApiKeyRecord, MemberRecord, RoleBindingRecord } from './management.ts';

export type Leaving = {
  readonly member: MemberRecord;
  readonly held: readonly RoleBindingRecord[];
  /** The personal keys of the member, revoked ones too. */
  readonly keys: readonly ApiKeyRecord[];
};

type Means = { readonly actor: Actor; readonly nowMs: number; readonly random: RandomBytes };

/**
 * The member goes with all bindings. The keys stay on record, revoked, so that they are dead even for a member who is
 * added again under the same e-mail address.
 */
export function planRemoval({ member, held, keys }: Leaving, means: Means): NonNullable<Decision<void>['change']> {
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
