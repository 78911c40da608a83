/** Parses the arguments of `spandrel members`. */

import { parseArgs } from 'node:util';
import { argumentProblem, readId } from './typed-arguments.ts';

/** A member is named by the id or by the e-mail. */
export type MembersCommand = { readonly kind: 'members'; readonly json: boolean } & (
  | { readonly action: 'list' }
  | { readonly action: 'add'; readonly email: string; readonly name: string; readonly role: string }
  | { readonly action: 'role'; readonly member: string; readonly role: string }
  | { readonly action: 'disable' | 'enable' | 'remove'; readonly member: string }
);

/** One line for each form, as the help page prints them. */
export const MEMBERS_HELP: readonly (readonly [form: string, about: string])[] = [
  ['spandrel members list', 'who belongs to the organization'],
  ['spandrel members add --email E-MAIL --name TEXT', 'add a member, a MEMBER unless --role says'],
  ['    [--role ROLE]', 'ADMIN, MEMBER, VIEWER or EXTERNAL'],
  ['spandrel members role MEMBER ROLE', 'change the role of a member, named by id or e-mail'],
  ['spandrel members disable|enable MEMBER', "stop a member's personal keys, or let them work again"],
  ['spandrel members remove MEMBER', 'remove a member and revoke the personal keys for good'],
];

const USAGE = 'members takes list, add, role, disable, enable or remove';

/** `args` after "members". Returns a problem as text. */
export function readMembersCommand(args: readonly string[]): MembersCommand | string {
  const [action = '', ...others] = args;
  try {
    return readAction(action, others) ?? USAGE;
  } catch (error) {
    return `members ${action}: ${argumentProblem(error)}`;
  }
}

const text = { type: 'string' } as const;
const json = { type: 'boolean', default: false } as const;

function readAction(action: string, args: readonly string[]): MembersCommand | null {
  if (action === 'list') {
    const { values } = parseArgs({ args: [...args], options: { json } });
    return { kind: 'members', action, json: values.json };
  }
  if (action === 'add') {
    const { values } = parseArgs({ args: [...args], options: { email: text, name: text, role: text, json } });
    const { email, name, role = 'MEMBER' } = values;
    if (email === undefined || name === undefined) throw new Error('--email and --name are needed');
    return { kind: 'members', action, email, name, role: role.toUpperCase(), json: values.json };
  }
  if (action !== 'role' && action !== 'disable' && action !== 'enable' && action !== 'remove') return null;
  const { values, positionals } = parseArgs({ args: [...args], options: { json }, allowPositionals: true });
  const [typed = '', role = '', ...more] = positionals;
  const member = readId(typed, 'the id or e-mail of a member');
  const isComplete = member !== '' && (action === 'role') === (role !== '') && more.length === 0;
  if (!isComplete) throw new Error(action === 'role' ? 'name a member and a role' : 'name exactly one member');
  if (action === 'role') return { kind: 'members', action, member, role: role.toUpperCase(), json: values.json };
  return { kind: 'members', action, member, json: values.json };
}
