/** Shows and changes the members of the organization of a running server. */

import { createServerClient, type ServerAnswer, type ServerClient } from './client.ts';
import type { MembersCommand } from './members-arguments.ts';
import { readPages } from './pages.ts';
import { alignRows, itemsOf, memberOf, memberText } from './text.ts';

type Environment = { readonly [name: string]: string | undefined };

const LIST_PATH = '/api/organization/members';

/** Resolves with what to print. Rejects with one line for the operator. */
export async function members(environment: Environment, command: MembersCommand): Promise<string> {
  const client = createServerClient(environment);
  const answers = await ask(client, command);
  if (command.json) return answers.map(({ text }) => `${text}\n`).join('');
  if (command.action === 'remove') return `removed ${command.member}\n`;
  return listing(answers.flatMap(({ body }) => (command.action === 'list' ? itemsOf(body, 'data') : [body])));
}

async function ask(client: ServerClient, command: MembersCommand): Promise<readonly ServerAnswer[]> {
  if (command.action === 'list') return await readMembers(client);
  if (command.action === 'add') {
    const { email, name, role } = command;
    return [await client.call('POST', LIST_PATH, { email, name, role })];
  }
  const path = `${LIST_PATH}/${encodeURIComponent(await idOf(client, command.member))}`;
  if (command.action === 'remove') return [await client.call('DELETE', path)];
  const change = command.action === 'role' ? { role: command.role } : { disabled: command.action === 'disable' };
  return [await client.call('PATCH', path, change)];
}

/** E-mails are unique among the members of an organization, and stored in lower case. */
async function idOf(client: ServerClient, member: string): Promise<string> {
  if (!member.includes('@')) return member;
  const all = (await readMembers(client)).flatMap(({ body }) => itemsOf(body, 'data'));
  const found = all.find((each) => memberOf(each, 'email') === member.toLowerCase());
  if (found === undefined) throw new Error(`no member has the e-mail ${member}`);
  return memberText(found, 'userId');
}

function readMembers(client: ServerClient): Promise<readonly ServerAnswer[]> {
  return readPages(client, `${LIST_PATH}?limit=200`);
}

function listing(items: readonly unknown[]): string {
  const names = ['userId', 'email', 'name', 'role', 'disabledAt', 'createdAt'];
  const rows = items.map((member) => names.map((name) => memberText(member, name)));
  return alignRows([['ID', 'E-MAIL', 'NAME', 'ROLE', 'DISABLED', 'ADDED'], ...rows]);
}
