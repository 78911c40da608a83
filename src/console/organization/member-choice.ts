/** Choices of a member by what is typed: lists of all would be too long. */

import type { Member } from '../../../gen/spandrel/v1/organization_pb.js';

const OFFERED_MAX = 50;

/** Members whose name, address or id has the text. */
export function offeredMembers(text: string, members: readonly Member[]): readonly Member[] {
  const wanted = text.trim().toLowerCase();
  const hasText = (member: Member) =>
    [member.name ?? '', member.email, member.userId].some((each) => each.toLowerCase().includes(wanted));
  return members.filter(hasText).slice(0, OFFERED_MAX);
}

/** The id of the member with the address, or the text itself, which may be the id of one who is not listed. */
export function memberIdOf(text: string, members: readonly Member[]): string {
  const wanted = text.trim();
  return members.find(({ email }) => email.toLowerCase() === wanted.toLowerCase())?.userId ?? wanted;
}
