/** OrganizationService and TeamService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  OrganizationSchema,
  type OrganizationService,
  type TeamSchema,
  type TeamService,
} from '../../../gen/spandrel/v1/organization_pb.js';
import type { Reason } from '../../domain/fault.ts';
import type { Page, PageRequest } from '../../domain/management/listing.ts';
import type { OrganizationRecord, TeamRecord } from '../../domain/management/management.ts';
import type { Organizations } from '../../domain/organization/organization.ts';
import type { Teams } from '../../domain/organization/teams.ts';
import type { Paged } from '../cursor-page.ts';
import { fieldsOf } from '../field-values.ts';
import { answerOnce, managementCallOf } from '../management-call.ts';
import { nulProblems, updateProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';
import { sentValues } from '../update-mask.ts';

export function createOrganizationRpc(deps: {
  readonly organizations: Organizations;
}): Implementation<typeof OrganizationService> {
  const { organizations } = deps;
  return {
    getOrganization: async (_request, context) => ({
      organization: toOrganization(await organizations.get(managementCallOf(context))),
    }),
    updateOrganization: {
      check: updateProblems,
      async handle({ organization: resource, updateMask: mask }, context) {
        const changes = sentValues(OrganizationSchema, { resource, mask }, ['name']);
        return { organization: toOrganization(await organizations.update(managementCallOf(context), changes)) };
      },
    },
  };
}

export function createTeamRpc({ teams }: { readonly teams: Teams }): Implementation<typeof TeamService> {
  return {
    listTeams: {
      check: pageProblems,
      async handle(request, context) {
        const page = await teams.list(managementCallOf(context), pageRequest(request));
        return { data: page.items.map(toTeam), ...toPaging(page) };
      },
    },
    createTeam: {
      check: nulProblems,
      handle: ({ name = '' }, context) =>
        answerOnce(context, {
          run: (call) => teams.create(call, { name }),
          show: (team: TeamRecord) => ({ team: toTeam(team) }),
        }),
    },
  };
}

const PAGE_NUMBER = /^[1-9][0-9]{0,6}$/;
const PAGE_MAX = 1_000_000;

/** The requested page of a numbered list: the page token is its number. */
export function pageRequest({ pageToken, pageSize }: Paged): PageRequest {
  return { page: pageToken === '' ? null : Number(pageToken), limit: pageSize ?? null };
}

/** The fault for a page token that is not a number. */
export function pageProblems({ pageToken }: Paged): readonly Reason[] {
  if (pageToken === '' || (PAGE_NUMBER.test(pageToken) && Number(pageToken) <= PAGE_MAX)) return [];
  return [{ field: 'page', type: 'invalid_format', message: 'page must be the token of a page' }];
}

/** The total of a page's list, and the token of the next page. */
export function toPaging({ page, limit, total }: Page<unknown>) {
  return { pagination: { page, limit, total }, nextPageToken: page * limit < total ? String(page + 1) : '' };
}

function toOrganization(record: OrganizationRecord): MessageInitShape<typeof OrganizationSchema> {
  return fieldsOf(record);
}

function toTeam(team: TeamRecord): MessageInitShape<typeof TeamSchema> {
  return fieldsOf(team);
}
