/** Teams, which projects belong to. */

import { auditRecord } from './audit.ts';
import type { RandomBytes } from './clock.ts';
import { decideOnce } from './decide-once.ts';
import { Fault } from './fault.ts';
import { refreshCall } from './fresh-caller.ts';
import { newId, slugify } from './ids.ts';
import { type Page, type PageWish, takePage } from './listing.ts';
import type { ManagementStore, TeamRecord } from './management.ts';
import type { ManagementCall, ReceiptOf } from './management-call.ts';
import { may, type Scope } from './permissions.ts';

export type TeamDeps = { readonly store: ManagementStore; readonly random: RandomBytes };

export type Teams = {
  /** Those where the caller has team:view, oldest first. */
  list(call: ManagementCall, wish: PageWish): Promise<Page<TeamRecord>>;
  /** Throws team_name_taken. */
  create(call: ManagementCall, draft: { readonly name: string }, receipt: ReceiptOf<TeamRecord>): Promise<TeamRecord>;
};

export function createTeams({ store, random }: TeamDeps): Teams {
  return {
    async list({ caller }, wish) {
      const teams = await store.teams(caller.organization.id);
      return takePage(
        teams.filter((team) => may(caller.principal, 'team:view', teamScope(team))),
        wish,
      );
    },

    create(call, { name }, receipt) {
      const { caller, actor, nowMs } = call;
      const organizationId = caller.organization.id;
      return decideOnce(store, call, {
        receipt,
        judge: () => refreshCall(store, call, 'team:manage'),
        async take() {
          const teams = await store.teams(organizationId);
          if (teams.some((team) => team.name === name)) {
            throw new Fault('team_name_taken', 'The organization already has a team with this name.');
          }
          const id = newId('team', random);
          const team = { id, name, slug: slugify(name, id), organizationId, createdAtMs: nowMs, updatedAtMs: nowMs };
          const deed = { action: 'team.create', targetType: 'team', targetId: id, status: 201 };
          const audit = [auditRecord(actor, deed, { nowMs, random })];
          return { result: team, change: { teams: [team], audit } };
        },
      });
    },
  };
}

export function teamScope({ organizationId, id }: Pick<TeamRecord, 'organizationId' | 'id'>): Scope {
  return { type: 'TEAM', organizationId, teamId: id };
}
