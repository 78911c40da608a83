/** Which names are settings, and which belong to something else. */

import { nearestMatch } from '../domain/nearest-match.ts';
import { isSecretSetting, SETTINGS } from './settings.ts';

const PREFIX = 'SPANDREL_';
const FILE_SUFFIX = '_FILE';

/** Variables that the first start prints, the docs use, or the command line reads as a client; they may also be set where a server starts. */
const NAMES_OF_CLIENTS = [
  'SPANDREL_URL',
  'SPANDREL_ORGANIZATION_ID',
  'SPANDREL_TEAM_ID',
  'SPANDREL_PROJECT_ID',
  'SPANDREL_ADMIN_USER_ID',
  'SPANDREL_PROJECT_KEY',
  'SPANDREL_ADMIN_KEY',
  'SPANDREL_VIRTUAL_KEY',
];

/** Variables of other programs, which the server reads too. */
const STANDARD_NAMES = [
  'AWS_ENDPOINT_URL_SQS',
  'AWS_ENDPOINT_URL_STS',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'PGSSLMODE',
];

const SETTING_NAMES = SETTINGS.map(({ name }) => name);
const OWN_NAMES: ReadonlySet<string> = new Set([...SETTING_NAMES, ...NAMES_OF_CLIENTS]);
const SUFFIXES = SETTING_NAMES.map((name) => name.slice(PREFIX.length));

/** Names that are read, without those of files. */
export const READ_NAMES: readonly string[] = [...OWN_NAMES, ...STANDARD_NAMES];

/** The variable that names the file of a setting; null for a setting that no file holds. */
export function fileNameOf(name: string): string | null {
  return isSecretSetting(name) ? `${name}${FILE_SUFFIX}` : null;
}

/** The problem of a name; null for a setting. Variables of other programs are none of ours. */
export function problemOfName(name: string, isInFile: boolean): string | null {
  if (OWN_NAMES.has(name) || isFileName(name)) return null;
  if (!name.startsWith(PREFIX)) {
    return isInFile && !STANDARD_NAMES.includes(name) ? `${name} is not a setting; set it in the environment` : null;
  }
  if (name.endsWith(FILE_SUFFIX) && OWN_NAMES.has(name.slice(0, -FILE_SUFFIX.length))) {
    return `${name} is not a setting; only secrets have a file`;
  }
  const nearest = nearestMatch(name.slice(PREFIX.length), SUFFIXES);
  const advice = nearest === null ? 'spandrel --help lists all' : `the nearest is ${PREFIX}${nearest}`;
  return `${name} is not a setting; ${advice}`;
}

function isFileName(name: string): boolean {
  return name.endsWith(FILE_SUFFIX) && isSecretSetting(name.slice(0, -FILE_SUFFIX.length));
}

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
