/** Creates the first and further organizations, and checks that the root secret belongs to the database. */

import type { RandomBytes } from '../clock.ts';
import { newId } from '../ids.ts';
import type { InstallationStore, NewOrganization } from '../management/management-port.ts';
import {
  hashSecret,
  mintApiKey,
  mintProjectKey,
  type ParsedToken,
  parseToken,
  type RootKeys,
  secretsEqual,
} from '../secrets.ts';
import { slugify } from '../slug.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { WrongSecret } from './secret-rotation.ts';

export type BootstrapOptions = OrganizationOptions & {
  readonly projectKey: string | null;
  readonly adminKey: string | null;
  readonly organizationId: string | null;
  readonly projectId: string | null;
};

export type OrganizationOptions = {
  readonly organizationName: string;
  readonly teamName: string;
  readonly projectName: string;
  /** In lower case. */
  readonly adminEmail: string;
};

export function isEmail(text: string): boolean {
  return /^[^@\s]{1,200}@[^@\s]{1,119}$/.test(text);
}

const NAME_CHARACTERS_MAX = 255;

/** Whether the text may name an organization, team or project. */
export function isName(text: string): boolean {
  return text.trim() !== '' && !hasMoreCharactersThan(text, NAME_CHARACTERS_MAX);
}

type BootstrapDeps = {
  readonly store: InstallationStore;
  readonly rootKeys: RootKeys;
  readonly keyPrefixes: readonly string[];
  readonly random: RandomBytes;
};

/** Values to print once, by environment variable. Null: the operator chose the value. */
export type FirstKeys = readonly (readonly [name: string, value: string | null])[];

/** Creates the first organization when there is none. Returns what to print; null on later starts. */
export async function bootstrap(
  deps: BootstrapDeps,
  options: BootstrapOptions,
  nowMs: number,
): Promise<FirstKeys | null> {
  await checkSecret(deps);
  const drawn = drawPlan(deps, options, nowMs);
  if (!(await deps.store.bootstrap({ ...drawn.plan, verifier: deps.rootKeys.verifier }))) {
    // Another process may have created it first, with another secret.
    await checkSecret(deps);
    return null;
  }
  return listFirstKeys(drawn, options);
}

const NOTHING_IMPOSED = { projectKey: null, adminKey: null, organizationId: null, projectId: null };

/**
 * Creates one more organization, for the command line. Returns what to print; null on a database without a first one.
 * No permission is checked: whoever holds the database and the secret controls all organizations.
 */
export async function addOrganization(
  deps: BootstrapDeps,
  organization: OrganizationOptions,
  nowMs: number,
): Promise<FirstKeys | null> {
  if ((await deps.store.readSecret()) === null) return null;
  const options = { ...organization, ...NOTHING_IMPOSED };
  const drawn = drawPlan(deps, options, nowMs);
  await deps.store.addOrganization(drawn.plan);
  return listFirstKeys(drawn, options);
}

function listFirstKeys({ plan, projectToken, adminToken }: Drawn, options: BootstrapOptions): FirstKeys {
  return [
    ['SPANDREL_ORGANIZATION_ID', plan.organization.id],
    ['SPANDREL_TEAM_ID', plan.team.id],
    ['SPANDREL_PROJECT_ID', plan.project.id],
    ['SPANDREL_ADMIN_USER_ID', plan.member.userId],
    ['SPANDREL_PROJECT_KEY', options.projectKey === null ? projectToken : null],
    ['SPANDREL_ADMIN_KEY', options.adminKey === null ? adminToken : null],
  ];
}

/** Throws WrongSecret when the database was created with another secret. */
async function checkSecret({ store, rootKeys }: Pick<BootstrapDeps, 'store' | 'rootKeys'>): Promise<void> {
  const installed = await store.readSecret();
  if (installed && !secretsEqual(installed.verifier, rootKeys.verifier)) throw new WrongSecret();
}

type Drawn = { readonly plan: NewOrganization; readonly adminToken: string; readonly projectToken: string };

function drawPlan(deps: BootstrapDeps, options: BootstrapOptions, nowMs: number): Drawn {
  const { random, rootKeys, keyPrefixes } = deps;
  const [prefix = 'sk-lw-'] = keyPrefixes;
  const projectToken = options.projectKey ?? mintProjectKey(prefix, random).token;
  const adminToken = options.adminKey ?? mintApiKey(prefix, random).token;
  const admin = parseAs('apiKey', adminToken, keyPrefixes);
  const organizationId = options.organizationId ?? newId('organization', random);
  const teamId = newId('team', random);
  const projectId = options.projectId ?? newId('project', random);
  const named = (id: string, name: string) => ({ id, name, slug: slugify(name, id) });
  const plan: NewOrganization = {
    createdAtMs: nowMs,
    organization: named(organizationId, options.organizationName),
    team: named(teamId, options.teamName),
    project: {
      ...named(projectId, options.projectName),
      keyHash: hashSecret(rootKeys.pepper, projectToken),
      keyHint: projectToken.slice(-4),
      keyImported: !parseAs('projectKey', projectToken, keyPrefixes).checksumValid,
    },
    member: {
      userId: newId('user', random),
      email: options.adminEmail,
      name: 'Administrator',
      bindingId: newId('rolebinding', random),
    },
    apiKey: {
      id: admin.keyId,
      name: 'Bootstrap admin key',
      bindingId: newId('rolebinding', random),
      secretHash: hashSecret(rootKeys.pepper, admin.secret),
      imported: !admin.checksumValid,
    },
    auditId: newId('audit', random),
  };
  return { plan, adminToken, projectToken };
}

function parseAs<K extends ParsedToken['kind']>(
  kind: K,
  token: string,
  prefixes: readonly string[],
): Extract<ParsedToken, { kind: K }> {
  const parsed = parseToken(token, prefixes);
  if (parsed?.kind !== kind) throw new Error(`the bootstrap token is not a ${kind}`);
  return parsed as Extract<ParsedToken, { kind: K }>;
}
