/** Parses the arguments of `spandrel keys`. */

import { parseArgs } from 'node:util';
import { argumentProblem, readId, readKeyId, type TypedKeyId } from './typed-arguments.ts';

/** A grant as it is typed; `scopeId` is null for the organization, whose id the server knows. */
export type TypedGrant = {
  readonly role: string;
  readonly scopeType: 'ORGANIZATION' | 'TEAM' | 'PROJECT';
  readonly scopeId: string | null;
};

export type KeysCommand = { readonly kind: 'keys'; readonly json: boolean } & (
  | { readonly action: 'list'; readonly wholeOrganization: boolean; readonly includeRevoked: boolean }
  | { readonly action: 'create'; readonly options: KeyOptions }
  | ({ readonly action: 'revoke' } & TypedKeyId)
  | ({ readonly action: 'rotate'; readonly overlapSeconds: number } & TypedKeyId)
);

export type KeyOptions = {
  readonly name: string;
  readonly description: string | null;
  readonly isService: boolean;
  /** By id or by e-mail; null: the member of the key in the environment. */
  readonly owner: string | null;
  /** Only a label: the grants decide what the key may do. */
  readonly isReadonly: boolean;
  readonly grants: readonly TypedGrant[];
  readonly permissions: readonly string[];
  readonly projectIds: readonly string[];
  readonly expires: Expiry | null;
};

export type Expiry = { readonly kind: 'at'; readonly instant: string } | { readonly kind: 'in'; readonly ms: number };

/** One line for each form, as the help page prints them. */
export const KEYS_HELP: readonly (readonly [form: string, about: string])[] = [
  ['spandrel keys list [--organization] [--revoked]', "one's own keys and the service keys, or all; revoked ones too"],
  ['spandrel keys create --name TEXT [--description TEXT]', 'mint a key and print its token, once:'],
  ['    [--service] [--for MEMBER]', 'owned by nobody, or by another member, named by id or e-mail'],
  ['    [--grant ROLE@SCOPE]...', 'ADMIN, MEMBER, VIEWER or CUSTOM at organization, team:ID or project:ID'],
  ['    [--permission NAME]...', 'what the CUSTOM grants give, for example traces:view'],
  ['    [--readonly]', 'label it as one that only looks; what it may do is up to its grants'],
  ['    [--project ID]... [--expires WHEN]', 'projects a service key administers; 30d, 12h, or an instant'],
  ['spandrel keys revoke ID', 'end a key for good, at once'],
  ['spandrel keys rotate ID [--overlap SECONDS]', 'a new token; the old one ends at once, or works on for so long'],
];

const UNITS_MS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const SCOPES: { readonly [word: string]: TypedGrant['scopeType'] } = { team: 'TEAM', project: 'PROJECT' };

/** `args` after "keys". Returns a problem as text. */
export function readKeysCommand(args: readonly string[]): KeysCommand | string {
  const [action = '', ...others] = args;
  const read = READERS[action];
  if (read === undefined) return 'keys takes list, create, revoke or rotate';
  try {
    return read(others);
  } catch (error) {
    return `keys ${action}: ${argumentProblem(error)}`;
  }
}

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;

const READERS: { readonly [action: string]: (args: readonly string[]) => KeysCommand } = {
  list(args) {
    const { values } = parseArgs({ args: [...args], options: { organization: flag, revoked: flag, json: flag } });
    const { organization = false, revoked = false, json = false } = values;
    return { kind: 'keys', action: 'list', wholeOrganization: organization, includeRevoked: revoked, json };
  },
  create(args) {
    const accepted = {
      name: text,
      description: text,
      service: flag,
      for: text,
      grant: texts,
      permission: texts,
      readonly: flag,
      project: texts,
      expires: text,
      json: flag,
    };
    const { values } = parseArgs({ args: [...args], options: accepted });
    if (values.name === undefined) throw new Error('--name is missing');
    if (values.readonly && values.permission) throw new Error('a key with --permission is restricted, not --readonly');
    const options = {
      name: values.name,
      description: values.description ?? null,
      isService: values.service === true,
      owner: values.for === undefined ? null : readId(values.for, 'the id or e-mail of a member'),
      isReadonly: values.readonly === true,
      grants: (values.grant ?? []).map(readGrant),
      permissions: values.permission ?? [],
      projectIds: (values.project ?? []).map((id) => readId(id, 'the id of a project')),
      expires: values.expires === undefined ? null : readExpiry(values.expires),
    };
    return { kind: 'keys', action: 'create', options, json: values.json === true };
  },
  revoke(args) {
    const { values, positionals } = parseArgs({ args: [...args], options: { json: flag }, allowPositionals: true });
    return { kind: 'keys', action: 'revoke', ...onlyOne(positionals), json: values.json === true };
  },
  rotate(args) {
    const options = { overlap: text, json: flag };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { overlap = '0', json = false } = values;
    if (!/^[0-9]{1,5}$/.test(overlap)) throw new Error('--overlap takes seconds, at most 86400');
    return { kind: 'keys', action: 'rotate', ...onlyOne(positionals), overlapSeconds: Number(overlap), json };
  },
};

function onlyOne([typed, ...others]: readonly string[]): TypedKeyId {
  if (typed === undefined || typed === '' || others.length > 0) throw new Error('name exactly one key by its id');
  return readKeyId(typed);
}

function readGrant(typed: string): TypedGrant {
  const [, role = '', word = '', scopeId = ''] = /^([A-Za-z]+)@([a-z]+)(?::(.+))?$/.exec(typed) ?? [];
  const scopeType = word === 'organization' ? 'ORGANIZATION' : SCOPES[word];
  if (scopeType === undefined || (scopeType === 'ORGANIZATION') !== (scopeId === '')) {
    throw new Error('--grant takes ROLE@organization, ROLE@team:ID or ROLE@project:ID');
  }
  const named = scopeId === '' ? null : readId(scopeId, `the id of a ${word}`);
  return { role: role.toUpperCase(), scopeType, scopeId: named };
}

export function readExpiry(typed: string): Expiry {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})([mhd])$/.exec(typed) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs !== undefined) return { kind: 'in', ms: Number(count) * unitMs };
  if (/^\d{4}-\d\d-\d\d/.test(typed)) return { kind: 'at', instant: typed };
  throw new Error('--expires takes 30d, 12h, 45m, or an instant such as 2030-01-31T12:00:00Z');
}
