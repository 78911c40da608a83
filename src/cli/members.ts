/** Shows and changes the members of the organization of a running server. */

import { createServerClient, readPages, type ServerClient, type ServerResponse } from './client.ts';
import type { Environment } from './io.ts';
import type { MembersCommand } from './members-arguments.ts';
import { alignRows, itemsOf, memberOf, memberText } from './text.ts';

const MEMBERS_PATH = '/api/organization/members';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function members(environment: Environment, command: MembersCommand): Promise<string> {
  const client = createServerClient(environment);
  const answers = await sendRequests(client, command);
  if (command.json) return answers.map(({ text }) => `${text}\n`).join('');
  if (command.action === 'remove') return `removed ${command.member}\n`;
  return listing(answers.flatMap(({ body }) => (command.action === 'list' ? itemsOf(body, 'data') : [body])));
}

async function sendRequests(client: ServerClient, command: MembersCommand): Promise<readonly ServerResponse[]> {
  if (command.action === 'list') return await readMembers(client);
  if (command.action === 'add') {
    const { email, name, role } = command;
    return [await client.call('POST', MEMBERS_PATH, { email, name, role })];
  }
  const path = `${MEMBERS_PATH}/${encodeURIComponent(await findMember(client, command.member))}`;
  if (command.action === 'remove') return [await client.call('DELETE', path)];
  const change = command.action === 'role' ? { role: command.role } : { disabled: command.action === 'disable' };
  return [await client.call('PATCH', path, change)];
}

function listing(items: readonly unknown[]): string {
  const names = ['userId', 'email', 'name', 'role', 'disabledAt', 'createdAt'];
  const rows = items.map((member) => names.map((name) => memberText(member, name)));
  return alignRows([['ID', 'E-MAIL', 'NAME', 'ROLE', 'DISABLED', 'ADDED'], ...rows]);
}

/** The id. E-mails are unique among the members of an organization, and stored in lower case. */
export async function findMember(client: ServerClient, member: string): Promise<string> {
  if (!member.includes('@')) return member;
  const all = (await readMembers(client)).flatMap(({ body }) => itemsOf(body, 'data'));
  const found = all.find((each) => memberOf(each, 'email') === member.toLowerCase());
  if (found === undefined) throw new Error(`no member has the e-mail ${member}`);
  return memberText(found, 'userId');
}

function readMembers(client: ServerClient): Promise<readonly ServerResponse[]> {
  return readPages(client, `${MEMBERS_PATH}?limit=200`);
}
