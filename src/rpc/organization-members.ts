/** MemberService: messages to and from what the rules work with. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  CreateMemberRequestSchema,
  ListMembersRequestSchema,
  MemberRole as MemberRoleNumber,
  type MemberSchema,
  type MemberService,
  RemoveMemberRequestSchema,
  UpdateMemberRequestSchema,
} from '../../gen/spandrel/v1/organization_pb.js';
import type { CursorWish } from '../domain/listing.ts';
import type { MemberRole } from '../domain/member-grants.ts';
import type { Member, MemberChanges, Members } from '../domain/members.ts';
import { wordOf } from './grant-words.ts';
import { managementCallOf } from './management-call.ts';
import { nulProblems, sentFields, unsetProblems } from './management-problems.ts';
import type { Implementation } from './method.ts';

const ROLE_DEFAULT = 'MEMBER';

export function createMemberRpc({ members }: { readonly members: Members }): Implementation<typeof MemberService> {
  return {
    listMembers: {
      check: (request) => nulProblems(ListMembersRequestSchema, request),
      async handle(request, context) {
        const { items, nextCursor } = await members.list(managementCallOf(context), cursorWish(request));
        return { data: items.map(toMessage), nextCursor: nextCursor ?? undefined };
      },
    },
    createMember: {
      check: (request) => nulProblems(CreateMemberRequestSchema, request),
      async handle(request, context) {
        const { email = '', name = '' } = request;
        const draft = { email, name, role: wordOf(roleNumbers, request.role) ?? ROLE_DEFAULT };
        const answer = (member: Member) => ({ member: toMessage(member) });
        return answer(
          await members.create(managementCallOf(context), draft, (member) => context.receipt(answer(member))),
        );
      },
    },
    updateMember: {
      check: (request) => [
        ...unsetProblems(UpdateMemberRequestSchema, request),
        ...nulProblems(UpdateMemberRequestSchema, request),
      ],
      async handle(request, context) {
        const { role, ...sent } = sentFields(UpdateMemberRequestSchema, request, ['role', 'disabled', 'name']);
        const word = role === undefined ? null : wordOf(roleNumbers, role);
        const changes: MemberChanges = { ...sent, ...(word === null ? {} : { role: word }) };
        return { member: toMessage(await members.update(managementCallOf(context), request.userId, changes)) };
      },
    },
    removeMember: {
      check: (request) => nulProblems(RemoveMemberRequestSchema, request),
      async handle(request, context) {
        await members.remove(managementCallOf(context), request.userId);
        return { success: true };
      },
    },
  };
}

/** Which page of a list with cursors is asked for; an empty cursor is none. */
export function cursorWish({
  cursor,
  limit,
}: {
  readonly cursor?: string | undefined;
  readonly limit?: bigint | undefined;
}): CursorWish {
  return { cursor: cursor ?? '', limit: limit === undefined ? null : Number(limit) };
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
