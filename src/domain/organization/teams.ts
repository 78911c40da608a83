/** Teams group the projects of an organization. */

import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import { may, teamScope } from '../keys/permissions.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import { type Page, type PageRequest, slicePage } from '../management/listing.ts';
import type { TeamRecord } from '../management/management.ts';
import type { IdempotentCall, ManagementCall } from '../management/management-call.ts';
import { type CommitDeps, commitIdempotently } from '../management/optimistic-commit.ts';
import { slugify } from '../slug.ts';
import { requireRoom, type SizeLimits } from './size-limits.ts';

export type Teams = ReturnType<typeof createTeams>;

export function createTeams(deps: CommitDeps & { readonly limits: SizeLimits }) {
  const { store, random, limits } = deps;
  return {
    /** Teams where the caller has team:view, oldest first. */
    async list({ caller }: ManagementCall, request: PageRequest): Promise<Page<TeamRecord>> {
      const teams = await store.teams(caller.organization.id);
      return slicePage(
        teams.filter((team) => may(caller.principal, 'team:view', teamScope(team))),
        request,
      );
    },

    /** Throws team_name_taken and team_limit_reached. */
    create(call: IdempotentCall<TeamRecord>, { name }: Pick<TeamRecord, 'name'>) {
      const { caller, nowMs } = call;
      const organizationId = caller.organization.id;
      return commitIdempotently(deps, call, {
        checkCaller: () => refreshCall(store, call, 'team:manage'),
        async attempt() {
          const teams = await store.teams(organizationId);
          if (teams.some((team) => team.name === name)) {
            throw new Fault('team_name_taken', 'The organization already has a team with this name.');
          }
          requireRoom(limits, 'team', teams.length);
          const id = newId('team', random);
          const team = { id, name, slug: slugify(name, id), organizationId, createdAtMs: nowMs, updatedAtMs: nowMs };
          const audited = { action: 'team.create', targetId: id, status: 201 };
          return { result: team, change: { teams: [team] }, audited };
        },
      });
    },
  };
}
