/** Parses the command line. */

import { parseArgs } from 'node:util';
import { SETTINGS } from '../config/config.ts';
import { BUDGETS_HELP, type BudgetsCommand, readBudgetsCommand } from './budgets-arguments.ts';
import { KEYS_HELP, type KeysCommand, readKeysCommand } from './keys-arguments.ts';
import { MEMBERS_HELP, type MembersCommand, readMembersCommand } from './members-arguments.ts';
import type { RecoveryOptions } from './mint-admin-key.ts';
import {
  MODEL_PROVIDERS_HELP,
  type ModelProvidersCommand,
  readModelProvidersCommand,
} from './model-providers-arguments.ts';
import { ORGANIZATION_HELP, type OrganizationCommand, readOrganizationCommand } from './organization-arguments.ts';
import { REPRICE_HELP, type RepriceCommand, readRepriceCommand } from './reprice-arguments.ts';
import { readVersion } from './version.ts';
import { readVirtualKeysCommand, VIRTUAL_KEYS_HELP, type VirtualKeysCommand } from './virtual-keys-arguments.ts';

export type Command =
  | { readonly kind: 'serve' }
  | { readonly kind: 'migrate'; readonly isDryRun: boolean }
  | { readonly kind: 'copy'; readonly from: string; readonly to: string }
  | { readonly kind: 'backup'; readonly to: string }
  | { readonly kind: 'return-texts'; readonly drops: 'none' | 'missing' | 'all' }
  | { readonly kind: (typeof BARE)[number] }
  | BudgetsCommand
  | KeysCommand
  | MembersCommand
  | ModelProvidersCommand
  | VirtualKeysCommand
  | OrganizationCommand
  | RepriceCommand
  | { readonly kind: 'retention'; readonly isRelease: boolean }
  | ({ readonly kind: 'mint-admin-key' } & RecoveryOptions)
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'wrong'; readonly text: string };

/** `args` without the runtime and the script. */
export function readCommand(args: readonly string[]): Command {
  const [first, ...others] = args;
  if (first === 'help' || args.includes('--help') || args.includes('-h')) return { kind: 'print', text: help(first) };
  if (first === '--version') return { kind: 'print', text: `spandrel ${readVersion()}\n` };
  if ((first === undefined || first === 'serve') && others.length === 0) return { kind: 'serve' };
  if (first === 'migrate') return readMigrate(others);
  if (first === 'copy') return readCopy(others);
  if (first === 'backup') return readBackup(others);
  if (first === 'return-texts') return readReturnTexts(others);
  if (isBare(first)) {
    return others.length === 0 ? { kind: first } : refuse(`${first} takes no arguments`);
  }
  if (first === 'budgets') return orRefuse(readBudgetsCommand(others), first);
  if (first === 'keys') return orRefuse(readKeysCommand(others), first);
  if (first === 'members') return orRefuse(readMembersCommand(others), first);
  if (first === 'virtual-keys') return orRefuse(readVirtualKeysCommand(others), first);
  if (first === 'model-providers') return orRefuse(readModelProvidersCommand(others), first);
  if (first === 'organization') return orRefuse(readOrganizationCommand(others), first);
  if (first === 'reprice') return orRefuse(readRepriceCommand(others), first);
  if (first === 'retention') return readRetention(others);
  if (first === 'mint-admin-key') return readMintAdminKey(others);
  return refuse(`unknown argument: ${args.map(hideAddress).join(' ')}`);
}

const BARE = ['compact', 'config', 'doctor', 'healthcheck', 'rotate-secret'] as const;

function isBare(command: string | undefined): command is (typeof BARE)[number] {
  return BARE.some((bare) => bare === command);
}

/** Hides the rest of a URL: the URL of a database may contain a password. */
function hideAddress(arg: string): string {
  return arg.replace(/:\/\/.*/s, '://...');
}

function readMigrate(args: readonly string[]): Command {
  const options = readOptions(args, { 'dry-run': { type: 'boolean' } });
  if (options === null) return refuse('migrate takes --dry-run and nothing else');
  return { kind: 'migrate', isDryRun: options['dry-run'] === true };
}

function readReturnTexts(args: readonly string[]): Command {
  const options = readOptions(args, { 'drop-missing': { type: 'boolean' }, 'drop-all': { type: 'boolean' } });
  if (options === null) return refuse('return-texts takes --drop-missing or --drop-all and nothing else');
  const drops = options['drop-all'] === true ? 'all' : options['drop-missing'] === true ? 'missing' : 'none';
  return { kind: 'return-texts', drops };
}

function readCopy(args: readonly string[]): Command {
  const options = readOptions(args, { from: { type: 'string' }, to: { type: 'string' } });
  if (typeof options?.from !== 'string' || typeof options.to !== 'string') {
    // Does not repeat the arguments: the URL of a database may contain a password.
    return refuse('copy takes --from sqlite:<path> and --to postgres://<user>:<password>@<host>/<database>');
  }
  return { kind: 'copy', from: options.from, to: options.to };
}

function readBackup(args: readonly string[]): Command {
  const to = readOptions(args, { to: { type: 'string' } })?.to;
  return typeof to === 'string' && to !== '' ? { kind: 'backup', to } : refuse('backup takes --to <file>');
}

function readRetention(args: readonly string[]): Command {
  const options = readOptions(args, { release: { type: 'boolean' } });
  if (options === null) return refuse('retention takes --release and nothing else');
  return { kind: 'retention', isRelease: options.release === true };
}

const RETENTION_HELP = [
  ['spandrel retention [--release]', 'print whether deletions by age wait because the clock is ahead of what is'],
  ['', 'stored; --release confirms the clock of this machine, so that they go on'],
] as const;

const ROTATE_SECRET_HELP = [
  [
    'spandrel rotate-secret',
    'seal stored secrets with SPANDREL_SECRET instead of SPANDREL_SECRET_PREVIOUS, or with a new',
  ],
  ['', 'secret where it is a file beside the database; keys of clients stay valid'],
] as const;

function readMintAdminKey(args: readonly string[]): Command {
  const options = readOptions(args, { email: { type: 'string' }, organization: { type: 'string' } });
  const { email, organization = null } = options ?? {};
  if (typeof email !== 'string' || email === '' || typeof organization === 'boolean') {
    return refuse('mint-admin-key takes --email <e-mail>, and --organization <id> where that does not suffice');
  }
  return { kind: 'mint-admin-key', email, organizationId: organization };
}

function orRefuse(read: Command | string, topic: string): Command {
  return typeof read === 'string' ? refuse(read, `spandrel ${topic} --help`) : read;
}

type Options = { readonly [name: string]: { readonly type: 'string' | 'boolean' } };

/** Null when there are other arguments. */
function readOptions(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch {
    return null;
  }
}

function refuse(problem: string, helpCommand = 'spandrel --help'): Command {
  return { kind: 'wrong', text: `spandrel: ${problem}\nRun ${helpCommand}.\n` };
}

/** The help of one topic, or of everything. */
function help(topic: string | undefined): string {
  if (topic === 'budgets') return helpOfClient(BUDGETS_HELP);
  if (topic === 'keys') return helpOfClient(KEYS_HELP);
  if (topic === 'members') return helpOfClient(MEMBERS_HELP);
  if (topic === 'virtual-keys') return helpOfClient(VIRTUAL_KEYS_HELP);
  if (topic === 'model-providers') return helpOfClient(MODEL_PROVIDERS_HELP);
  if (topic === 'organization' || topic === 'reprice') return helpOfDatabase();
  return helpOfAll();
}

type HelpRows = readonly (readonly [form: string, about: string])[];

function helpOfAll(): string {
  const width = Math.max(...SETTINGS.map((setting) => setting.name.length));
  const rows = SETTINGS.map(({ name, fallback, about }) => {
    const unset = fallback === '' ? '' : ` Default: ${fallback}.`;
    return `  ${name.padEnd(width)}  ${about}${unset}`;
  });
  return [
    'spandrel [serve]                     run the server',
    'spandrel migrate [--dry-run]         bring the schema of the database up to date, or print what that would run',
    'spandrel copy --from URL --to URL    copy a stopped SQLite database into an empty PostgreSQL database',
    'spandrel backup --to FILE            copy the SQLite database of a running server',
    'spandrel compact                     give free space of the SQLite database back to the file system',
    'spandrel config                      print the settings in force, without secrets, and where each is set',
    'spandrel doctor                      look for what would keep a server from running well; exits with 1 if something would',
    'spandrel return-texts                take the texts of traces that were moved to ClickHouse back into PostgreSQL;',
    '    [--drop-missing | --drop-all]    spans lose the texts that ClickHouse lacks for ever; all, where it has none any more',
    'spandrel healthcheck                 exit with 0 if the server on this machine is ready, else with 1',
    'spandrel mint-admin-key --email E    mint and print a key for an administrator when all keys are lost, directly on',
    '    [--organization ID]              the database; the e-mail may belong to administrators of several organizations',
    'spandrel --help                      print this page',
    'spandrel --version                   print the version',
    '',
    helpOfDatabase(),
    helpOfClient([...KEYS_HELP, ...MEMBERS_HELP, ...VIRTUAL_KEYS_HELP, ...MODEL_PROVIDERS_HELP, ...BUDGETS_HELP]),
    'Settings of the server are read from the environment; secrets also from files, such as SPANDREL_SECRET_FILE:',
    ...rows,
    '',
  ].join('\n');
}

function helpOfDatabase(): string {
  return [
    'Done directly on the database, which the settings of the server name, with its secret; so is mint-admin-key. Beside',
    'running servers on PostgreSQL, while a server on a SQLite file is stopped:',
    ...aligned([...ORGANIZATION_HELP, ...REPRICE_HELP, ...RETENTION_HELP, ...ROTATE_SECRET_HELP]),
    '',
  ].join('\n');
}

function helpOfClient(forms: HelpRows): string {
  return [
    'Asked of a running server, with --json for its answer as it came:',
    ...aligned(forms),
    '',
    'They read from the environment where the server is, and a key of the organization (a PEM file that signed the',
    "server's certificate goes into NODE_EXTRA_CA_CERTS):",
    ...aligned([
      ['  SPANDREL_URL', 'Address of the server. Default: http://127.0.0.1:5560.'],
      ['  SPANDREL_ADMIN_KEY', 'The API key to ask with.'],
    ]),
    '',
  ].join('\n');
}

function aligned(rows: HelpRows): readonly string[] {
  const width = Math.max(...rows.map(([form]) => form.length));
  return rows.map(([form, about]) => `${form.padEnd(width)}  ${about}`);
}
