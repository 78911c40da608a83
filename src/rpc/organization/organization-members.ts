/** MemberService: message <-> domain values. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  CreateMemberRequestSchema,
  ListMembersRequestSchema,
  MemberRole as MemberRoleNumber,
  MemberSchema,
  type MemberService,
  RemoveMemberRequestSchema,
  type UpdateMemberRequest,
  UpdateMemberRequestSchema,
} from '../../../gen/spandrel/v1/organization_pb.js';
import type { MemberRole } from '../../domain/organization/member-grants.ts';
import type { Member, MemberChanges, Members } from '../../domain/organization/members.ts';
import { cursorRequest } from '../cursor-page.ts';
import { enumNameOf } from '../keys/grant-enums.ts';
import { managementCallOf } from '../management-call.ts';
import { nulProblems, sentFields, type Update, unsetProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';

const ROLE_DEFAULT = 'MEMBER';

export function createMemberRpc({ members }: { readonly members: Members }): Implementation<typeof MemberService> {
  return {
    listMembers: {
      check: (request) => nulProblems(ListMembersRequestSchema, request),
      async handle(request, context) {
        const { items, nextCursor } = await members.list(managementCallOf(context), cursorRequest(request));
        return { data: items.map(toMessage), nextPageToken: nextCursor ?? undefined };
      },
    },
    createMember: {
      check: (request) => nulProblems(CreateMemberRequestSchema, request),
      async handle(request, context) {
        const { email = '', name = '' } = request;
        const draft = { email, name, role: enumNameOf(roleNumbers, request.role) ?? ROLE_DEFAULT };
        const answer = (member: Member) => ({ member: toMessage(member) });
        return answer(
          await members.create(managementCallOf(context), draft, (member) => context.receipt(answer(member))),
        );
      },
    },
    updateMember: {
      check: (request) => [
        ...unsetProblems(MemberSchema, changeOf(request)),
        ...nulProblems(UpdateMemberRequestSchema, request),
      ],
      async handle(request, context) {
        const { role, ...sent } = sentFields(MemberSchema, changeOf(request), ['role', 'disabled', 'name']);
        const word = role === undefined ? null : enumNameOf(roleNumbers, role);
        const changes: MemberChanges = { ...sent, ...(word === null ? {} : { role: word }) };
        return { member: toMessage(await members.update(managementCallOf(context), request.userId, changes)) };
      },
    },
    removeMember: {
      check: (request) => nulProblems(RemoveMemberRequestSchema, request),
      async handle(request, context) {
        await members.remove(managementCallOf(context), request.userId);
        return {};
      },
    },
  };
}

function changeOf({ member, updateMask: mask }: UpdateMemberRequest): Update<typeof MemberSchema> {
  return { resource: member ?? create(MemberSchema), mask };
}

const roleNumbers: Readonly<Record<MemberRole, MemberRoleNumber>> = {
  ADMIN: MemberRoleNumber.ADMIN,
  MEMBER: MemberRoleNumber.MEMBER,
  VIEWER: MemberRoleNumber.VIEWER,
  EXTERNAL: MemberRoleNumber.EXTERNAL,
};

function toMessage(member: Member): MessageInitShape<typeof MemberSchema> {
  const { userId, email, name, role, disabledAtMs } = member;
  return {
    userId,
    email,
    name,
    role: roleNumbers[role],
    disabled: disabledAtMs !== null,
    disabledAt: disabledAtMs === null ? undefined : timestampFromMs(disabledAtMs),
    createdAt: timestampFromMs(member.createdAtMs),
    updatedAt: timestampFromMs(member.updatedAtMs),
  };
}
