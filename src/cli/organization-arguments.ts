/** Parses the arguments of `spandrel organization`. */

import { parseArgs } from 'node:util';
import { isEmail, isName, type OrganizationOptions } from '../domain/organization/bootstrap.ts';
import { argumentProblem } from './typed-arguments.ts';

export type OrganizationCommand = {
  readonly kind: 'organization';
  readonly action: 'create';
  readonly options: OrganizationOptions;
};

/** One line for each form, as the help page prints them. */
export const ORGANIZATION_HELP: readonly (readonly [form: string, about: string])[] = [
  ['spandrel organization create --name TEXT', 'make one more organization, and print its ids and first keys'],
  ['    --admin-email E-MAIL', 'the e-mail of its first administrator'],
  ['    [--team TEXT] [--project TEXT]', 'names of its first team and project: Default team, Default project'],
];

const USAGE = 'organization takes create';

/** `args` after "organization". Returns a problem as text. */
export function readOrganizationCommand(args: readonly string[]): OrganizationCommand | string {
  const [action = '', ...others] = args;
  if (action !== 'create') return USAGE;
  try {
    return { kind: 'organization', action, options: readOptions(others) };
  } catch (error) {
    return `organization create: ${argumentProblem(error)}`;
  }
}

const text = { type: 'string' } as const;

function readOptions(args: readonly string[]): OrganizationOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { name: text, 'admin-email': text, team: text, project: text },
  });
  const { name, 'admin-email': email, team = 'Default team', project = 'Default project' } = values;
  if (name === undefined || email === undefined) throw new Error('--name and --admin-email are needed');
  if (!isEmail(email)) throw new Error('--admin-email must be an e-mail address');
  for (const [option, given] of Object.entries({ name, team, project })) {
    if (!isName(given)) throw new Error(`--${option} must have 1 to 255 characters that are not all blank`);
  }
  return { organizationName: name, teamName: team, projectName: project, adminEmail: email.toLowerCase() };
}
