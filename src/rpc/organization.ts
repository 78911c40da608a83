/** OrganizationService and TeamService: messages to and from what the rules work with. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  CreateTeamRequestSchema,
  type OrganizationSchema,
  type OrganizationService,
  type PaginationSchema,
  type TeamSchema,
  type TeamService,
  UpdateOrganizationRequestSchema,
} from '../../gen/spandrel/v1/organization_pb.js';
import type { Page, PageWish } from '../domain/listing.ts';
import type { OrganizationRecord, TeamRecord } from '../domain/management.ts';
import type { Organizations } from '../domain/organization.ts';
import type { Teams } from '../domain/teams.ts';
import { managementCallOf } from './management-call.ts';
import { nulProblems, sentFields, unsetProblems } from './management-problems.ts';
import type { Implementation } from './method.ts';

export function createOrganizationRpc(deps: {
  readonly organizations: Organizations;
}): Implementation<typeof OrganizationService> {
  const { organizations } = deps;
  return {
    getOrganization: {
      handle: async (_request, context) => ({
        organization: toOrganization(await organizations.get(managementCallOf(context))),
      }),
    },
    updateOrganization: {
      check: (request) => [
        ...unsetProblems(UpdateOrganizationRequestSchema, request),
        ...nulProblems(UpdateOrganizationRequestSchema, request),
      ],
      async handle(request, context) {
        const changes = sentFields(UpdateOrganizationRequestSchema, request, ['name']);
        return { organization: toOrganization(await organizations.update(managementCallOf(context), changes)) };
      },
    },
  };
}

export function createTeamRpc({ teams }: { readonly teams: Teams }): Implementation<typeof TeamService> {
  return {
    listTeams: {
      async handle(request, context) {
        const page = await teams.list(managementCallOf(context), pageWish(request));
        return { data: page.items.map(toTeam), pagination: toPagination(page) };
      },
    },
    createTeam: {
      check: (request) => nulProblems(CreateTeamRequestSchema, request),
      async handle(request, context) {
        const draft = { name: request.name ?? '' };
        const answer = (team: TeamRecord) => ({ team: toTeam(team) });
        return answer(await teams.create(managementCallOf(context), draft, (team) => context.receipt(answer(team))));
      },
    },
  };
}

/** Which page of a numbered list is asked for. */
export function pageWish({
  page,
  limit,
}: {
  readonly page?: bigint | undefined;
  readonly limit?: bigint | undefined;
}): PageWish {
  return { page: page === undefined ? null : Number(page), limit: limit === undefined ? null : Number(limit) };
}

export function toPagination({ page, limit, total }: Page<unknown>): MessageInitShape<typeof PaginationSchema> {
  return { page, limit, total };
}

function toOrganization(record: OrganizationRecord): MessageInitShape<typeof OrganizationSchema> {
  const { id, name, slug, createdAtMs, updatedAtMs } = record;
  return { id, name, slug, createdAt: timestampFromMs(createdAtMs), updatedAt: timestampFromMs(updatedAtMs) };
}

function toTeam(team: TeamRecord): MessageInitShape<typeof TeamSchema> {
  const { id, name, slug, organizationId } = team;
  return {
    id,
    name,
    slug,
    organizationId,
    createdAt: timestampFromMs(team.createdAtMs),
    updatedAt: timestampFromMs(team.updatedAtMs),
  };
}
