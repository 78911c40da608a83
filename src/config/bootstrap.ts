/** The settings of the first start: keys, ids and names that it creates. */

import { type BootstrapOptions, isEmail, isName } from '../domain/organization/bootstrap.ts';
import type { ConfigReader } from './reader.ts';

export function readBootstrap(reader: ConfigReader, prefixes: readonly string[]): BootstrapOptions {
  const shape = (name: string, pattern: RegExp, what: string) => {
    const text = reader.text(name);
    if (text !== null && !pattern.test(text)) reader.refuse(`${name} must be ${what}`);
    return text;
  };
  const prefix = `(?:${prefixes.join('|')})`;
  const projectKey = `${prefix}[0-9A-Za-z]{48}$`;
  // Ids are public, so a key that was set as an id by mistake is refused.
  const idPattern = new RegExp(`^(?!${projectKey})[A-Za-z0-9_-]{1,64}$`);
  const idShape = '1 to 64 letters, digits, hyphens or underscores, and no key';
  return {
    projectKey: shape(
      'SPANDREL_BOOTSTRAP_PROJECT_KEY',
      new RegExp(`^${projectKey}`),
      'a prefix and 48 letters or digits',
    ),
    adminKey: shape(
      'SPANDREL_BOOTSTRAP_ADMIN_KEY',
      new RegExp(`^${prefix}[0-9A-Za-z]{16}_[0-9A-Za-z]{48}$`),
      'a prefix, 16 letters or digits, an underscore and 48 letters or digits',
    ),
    organizationId: shape('SPANDREL_BOOTSTRAP_ORGANIZATION_ID', idPattern, idShape),
    projectId: shape('SPANDREL_BOOTSTRAP_PROJECT_ID', idPattern, idShape),
    organizationName: readName(reader, 'SPANDREL_BOOTSTRAP_ORGANIZATION', 'Default organization'),
    teamName: readName(reader, 'SPANDREL_BOOTSTRAP_TEAM', 'Default team'),
    projectName: readName(reader, 'SPANDREL_BOOTSTRAP_PROJECT', 'Default project'),
    adminEmail: readEmail(reader).toLowerCase(),
  };
}

function readName(reader: ConfigReader, name: string, fallback: string): string {
  const text = reader.text(name) ?? fallback;
  if (!isName(text)) reader.refuse(`${name} must have 1 to 255 characters`);
  return text;
}

function readEmail(reader: ConfigReader): string {
  const name = 'SPANDREL_BOOTSTRAP_ADMIN_EMAIL';
  const text = reader.text(name) ?? 'admin@localhost';
  if (!isEmail(text)) reader.refuse(`${name} must be an e-mail address`);
  return text;
}
