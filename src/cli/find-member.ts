/** Members as they are named on a command line: by id, or by e-mail. */

import type { ServerAnswer, ServerClient } from './client.ts';
import { readPages } from './pages.ts';
import { itemsOf, memberOf, memberText } from './text.ts';

export const MEMBERS_PATH = '/api/organization/members';

/** The id. E-mails are unique among the members of an organization, and stored in lower case. */
export async function findMember(client: ServerClient, member: string): Promise<string> {
  if (!member.includes('@')) return member;
  const all = (await readMembers(client)).flatMap(({ body }) => itemsOf(body, 'data'));
  const found = all.find((each) => memberOf(each, 'email') === member.toLowerCase());
  if (found === undefined) throw new Error(`no member has the e-mail ${member}`);
  return memberText(found, 'userId');
}

export function readMembers(client: ServerClient): Promise<readonly ServerAnswer[]> {
  return readPages(client, `${MEMBERS_PATH}?limit=200`);
}
