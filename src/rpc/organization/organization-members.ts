/** MemberService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { MemberRole, MemberSchema, type MemberService } from '../../../gen/spandrel/v1/organization_pb.js';
import type { Member, MemberChanges, Members } from '../../domain/organization/members.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { nameOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import { answerOnce, managementCallOf } from '../management-call.ts';
import { nulProblems, updateProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';
import { sentValues } from '../update-mask.ts';

const ROLE_DEFAULT = 'MEMBER';

export function createMemberRpc({ members }: { readonly members: Members }): Implementation<typeof MemberService> {
  return {
    listMembers: {
      check: nulProblems,
      handle: async (request, context) =>
        pageMessage(await members.list(managementCallOf(context), cursorRequest(request)), toMessage),
    },
    createMember: {
      check: nulProblems,
      handle: ({ email = '', name = '', role }, context) =>
        answerOnce(context, {
          run: (call) => members.create(call, { email, name, role: nameOf(MemberRole, role) ?? ROLE_DEFAULT }),
          show: (member: Member) => ({ member: toMessage(member) }),
        }),
    },
    updateMember: {
      check: updateProblems,
      async handle({ userId, member: resource, updateMask: mask }, context) {
        const { role, ...sent } = sentValues(MemberSchema, { resource, mask }, ['role', 'disabled', 'name']);
        const word = role === undefined ? null : nameOf(MemberRole, role);
        const changes: MemberChanges = { ...sent, ...(word === null ? {} : { role: word }) };
        return { member: toMessage(await members.update(managementCallOf(context), userId, changes)) };
      },
    },
    removeMember: {
      check: nulProblems,
      async handle(request, context) {
        await members.remove(managementCallOf(context), request.userId);
        return {};
      },
    },
  };
}

function toMessage(member: Member): MessageInitShape<typeof MemberSchema> {
  return { ...fieldsOf(member), role: MemberRole[member.role], disabled: member.disabledAtMs !== null };
}
