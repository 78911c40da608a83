/** Variables that look like settings and are none: a misspelled setting must not go unnoticed. */

import { nearestMatch } from './domain/nearest-match.ts';
import { SETTINGS } from './settings.ts';

const PREFIX = 'SPANDREL_';

/** What the first start prints, and what the command line reads as a client: a shell that exported them starts servers too. */
const NAMES_OF_CLIENTS = [
  'SPANDREL_URL',
  'SPANDREL_ORGANIZATION_ID',
  'SPANDREL_TEAM_ID',
  'SPANDREL_PROJECT_ID',
  'SPANDREL_ADMIN_USER_ID',
  'SPANDREL_PROJECT_KEY',
  'SPANDREL_ADMIN_KEY',
];

const SETTING_NAMES = SETTINGS.map(({ name }) => name);
const KNOWN_NAMES: ReadonlySet<string> = new Set([...SETTING_NAMES, ...NAMES_OF_CLIENTS]);
const SUFFIXES = SETTING_NAMES.map((name) => name.slice(PREFIX.length));

/**
 * Kubernetes tells every container of the services of its namespace: of one named spandrel, or spandrel-something, under
 * names that begin like ours.
 */
const SERVICE_NAME =
  /^SPANDREL_(SERVICE_\w+|\w+_SERVICE_(HOST|PORT(_\w+)?)|(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_URL_NAME = /^SPANDREL_(\w+_)?PORT$/;
const SERVICE_URL = /^(tcp|udp|sctp):\/\//;

/** Whether Kubernetes set the variable, about a service. */
export function isAboutService(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (SERVICE_URL_NAME.test(name) && SERVICE_URL.test(value));
}

/** What is wrong with the names of an environment, one line each, without any value. */
export function nameProblems(environment: { readonly [name: string]: string | undefined }): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!name.startsWith(PREFIX) || value === undefined) return [];
    if (KNOWN_NAMES.has(name) || isAboutService(name, value)) return [];
    const nearest = nearestMatch(name.slice(PREFIX.length), SUFFIXES);
    const advice = nearest === null ? 'spandrel --help lists all' : `the nearest is ${PREFIX}${nearest}`;
    return [`${name} is no setting; ${advice}`];
  });
}
