/** The first organization of an empty database, and the proof that a secret belongs to a database. */

import type { RandomBytes } from './clock.ts';
import { newId, slugify } from './ids.ts';
import {
  hashSecret,
  mintApiKey,
  mintProjectKey,
  type ParsedToken,
  parseToken,
  type RootKeys,
  secretsEqual,
} from './secrets.ts';
import type { Bootstrap, InstallationStore } from './store.ts';

export type BootstrapWishes = {
  readonly projectKey: string | null;
  readonly adminKey: string | null;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  readonly organizationName: string;
  readonly teamName: string;
  readonly projectName: string;
  readonly adminEmail: string;
};

export type BootstrapDeps = {
  readonly store: InstallationStore;
  readonly rootKeys: RootKeys;
  readonly keyPrefixes: readonly string[];
  readonly random: RandomBytes;
};

/** What the operator is shown once, by the name of the variable it would be kept in. */
export type FirstStart = readonly (readonly [name: string, value: string])[];

/** Thrown when the root secret is not the one this database was made with. */
export class WrongSecret extends Error {
  constructor() {
    super('SPANDREL_SECRET does not belong to this database');
  }
}

/** Creates the first organization when there is none. Answers what to print, null on later starts. */
export async function bootstrap(
  deps: BootstrapDeps,
  wishes: BootstrapWishes,
  nowMs: number,
): Promise<FirstStart | null> {
  await checkSecret(deps);
  const { plan, adminToken, projectToken } = drawPlan(deps, wishes, nowMs);
  if (!(await deps.store.bootstrap(plan))) {
    // Another process may have been first, with another secret.
    await checkSecret(deps);
    return null;
  }
  return [
    ['SPANDREL_ORGANIZATION_ID', plan.organization.id],
    ['SPANDREL_TEAM_ID', plan.team.id],
    ['SPANDREL_PROJECT_ID', plan.project.id],
    ['SPANDREL_ADMIN_USER_ID', plan.member.userId],
    ['SPANDREL_PROJECT_KEY', wishes.projectKey === null ? projectToken : '(imposed)'],
    ['SPANDREL_ADMIN_KEY', wishes.adminKey === null ? adminToken : '(imposed)'],
  ];
}

/** Throws WrongSecret when the database was made with another one. */
export async function checkSecret({
  store,
  rootKeys,
}: Pick<BootstrapDeps, 'store'> & { readonly rootKeys: Pick<RootKeys, 'verifier'> }): Promise<void> {
  const verifier = await store.readVerifier();
  if (verifier && !secretsEqual(verifier, rootKeys.verifier)) throw new WrongSecret();
}

type Plan = { readonly plan: Bootstrap; readonly adminToken: string; readonly projectToken: string };

function drawPlan(deps: BootstrapDeps, wishes: BootstrapWishes, nowMs: number): Plan {
  const { random, rootKeys, keyPrefixes } = deps;
  const [prefix = 'sk-lw-'] = keyPrefixes;
  const projectToken = wishes.projectKey ?? mintProjectKey(prefix, random).token;
  const adminToken = wishes.adminKey ?? mintApiKey(prefix, random).token;
  const admin = parseAs('apiKey', adminToken, keyPrefixes);
  const organizationId = wishes.organizationId ?? newId('organization', random);
  const teamId = newId('team', random);
  const projectId = wishes.projectId ?? newId('project', random);
  const named = (id: string, name: string) => ({ id, name, slug: slugify(name, id) });
  const plan: Bootstrap = {
    verifier: rootKeys.verifier,
    createdAtMs: nowMs,
    organization: named(organizationId, wishes.organizationName),
    team: named(teamId, wishes.teamName),
    project: {
      ...named(projectId, wishes.projectName),
      keyHash: hashSecret(rootKeys.pepper, projectToken),
      keyHint: projectToken.slice(-4),
      keyImported: !parseAs('projectKey', projectToken, keyPrefixes).checksumValid,
    },
    member: {
      userId: newId('user', random),
      email: wishes.adminEmail,
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
  if (parsed?.kind !== kind) throw new Error(`the bootstrap token is no ${kind}`);
  return parsed as Extract<ParsedToken, { kind: K }>;
}
