/** Detects misspelled settings: variables that begin with SPANDREL_ and are no settings. */

import { nearestMatch } from '../domain/nearest-match.ts';
import { SETTINGS } from './settings.ts';

const PREFIX = 'SPANDREL_';

/** Variables that the first start prints or the command line reads as a client; they may also be set where a server starts. */
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
 * Kubernetes sets variables about the services of a namespace in every container; those about a service named spandrel, or
 * spandrel-something, begin with our prefix.
 */
const SERVICE_NAME =
  /^SPANDREL_(SERVICE_\w+|\w+_SERVICE_(HOST|PORT(_\w+)?)|(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_URL_NAME = /^SPANDREL_(\w+_)?PORT$/;
const SERVICE_URL = /^(tcp|udp|sctp):\/\//;

/** Whether the variable is one that Kubernetes sets about a service. */
export function isAboutService(name: string, value: string): boolean {
  return SERVICE_NAME.test(name) || (SERVICE_URL_NAME.test(name) && SERVICE_URL.test(value));
}

/** Problems of the names in an environment, one line each, without values. */
export function nameProblems(environment: { readonly [name: string]: string | undefined }): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!name.startsWith(PREFIX) || value === undefined) return [];
    if (KNOWN_NAMES.has(name) || isAboutService(name, value)) return [];
    const nearest = nearestMatch(name.slice(PREFIX.length), SUFFIXES);
    const advice = nearest === null ? 'spandrel --help lists all' : `the nearest is ${PREFIX}${nearest}`;
    return [`${name} is no setting; ${advice}`];
  });
}
