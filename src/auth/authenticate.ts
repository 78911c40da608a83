/** Headers -> Caller. Reads the store on every call: a revoked key is refused on the very next request. */

import { Credential, type Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { ApiKey, Caller, Project } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Fault } from '../domain/fault.ts';
import { isNameable } from '../domain/management-call.ts';
import { holdsAnything, type Principal, projectScope } from '../domain/permissions.ts';
import { hashSecret, type ParsedToken, parseToken, secretsEqual } from '../domain/secrets.ts';
import type { KeyStore } from '../domain/store.ts';
import { type HeaderReader, type Presented, readCredentials, readProjectId } from './credential.ts';

/**
 * Proves the credential that counts on a route with this policy. A project key where only API keys do is proven too when
 * it comes first, so that its refusal can say what is wrong with it.
 */
export type Authenticate = (policy: Policy, header: HeaderReader) => Promise<Caller>;

export type AuthenticateDeps = {
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly pepper: Buffer;
  readonly prefixes: readonly string[];
};

type Proven =
  | { readonly kind: 'api_key'; readonly key: ApiKey }
  | { readonly kind: 'project_key'; readonly project: Project };
type ApiKeyToken = Extract<ParsedToken, { kind: 'apiKey' }>;

const HASH_BYTES = 32;
/** Compared against when a key id is unknown, so that the work done does not tell. */
const NO_HASH = Buffer.alloc(HASH_BYTES);

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  return async (policy, header) => {
    const presented = readCredentials(header);
    if (presented.length === 0) {
      throw unauthenticated(
        'missing_credentials',
        'No credential was sent; send an API key as a Bearer token or in X-Auth-Token.',
      );
    }
    const chosen = await choose(deps, policy, presented);
    if (!chosen) throw unauthenticated('invalid_credentials', 'The credential is not valid.');
    const { proven, basicUser } = chosen;
    if (proven.kind === 'project_key') return projectKeyCaller(proven.project);
    if (policy.credential === Credential.ORGANIZATION) return apiKeyCaller(proven.key, null);
    return apiKeyCaller(proven.key, await namedProject(deps, proven.key, basicUser ?? readProjectId(header)));
  };
}

type Chosen = { readonly proven: Proven; readonly basicUser: string | null };

/**
 * The first credential that proves itself for the class of the route, so that a foreign one in another header spoils
 * nothing. Where API keys are asked for, a project key counts only without one: where the policy lets it in, or else to
 * be refused in the words for it, when it came first.
 */
async function choose(deps: AuthenticateDeps, policy: Policy, presented: readonly Presented[]): Promise<Chosen | null> {
  let projectKey: Chosen | null = null;
  for (const each of presented) {
    const proven = await prove(deps, each.token);
    if (!proven) continue;
    const chosen = { proven, basicUser: each.basicUser };
    if (proven.kind === 'api_key' || policy.credential !== Credential.ORGANIZATION) return chosen;
    if (policy.projectKeys || each === presented[0]) projectKey ??= chosen;
  }
  return projectKey;
}

async function prove(deps: AuthenticateDeps, token: string): Promise<Proven | null> {
  const parsed = parseToken(token, deps.prefixes);
  if (!parsed) return null;
  // Only imported tokens lack our checksum, or have another shape than those we mint.
  const isOurs = parsed.checksumValid && (parsed.kind === 'apiKey' || parsed.minted);
  if (!isOurs && !(await deps.keys.hasImportedCredentials())) return null;
  if (parsed.kind === 'apiKey') {
    const key = await proveApiKey(deps, parsed);
    if (key) return { kind: 'api_key', key };
    // A project key that looks like an API key can only be an imported one.
    if (!(await deps.keys.hasImportedCredentials())) return null;
  }
  const project = await deps.keys.findProjectByKeyHash(hashSecret(deps.pepper, token), deps.clock());
  return project ? { kind: 'project_key', project } : null;
}

async function proveApiKey(deps: AuthenticateDeps, token: ApiKeyToken): Promise<ApiKey | null> {
  const key = await deps.keys.findApiKey(token.keyId);
  const presented = hashSecret(deps.pepper, token.secret);
  const nowMs = deps.clock();
  const matches =
    secretsEqual(presented, key?.secretHash ?? NO_HASH) || (key !== null && matchesPrevious(key, presented, nowMs));
  if (key && matches && isAlive(key, nowMs)) return key;
  // A key that exists was at hand, and the time of its refusal would tell that it does.
  if (key) await deps.keys.readInVain();
  return null;
}

function isAlive({ revokedAtMs, expiresAtMs, ownerActive }: ApiKey, nowMs: number): boolean {
  return revokedAtMs === null && (expiresAtMs === null || nowMs < expiresAtMs) && ownerActive;
}

/** While a rotation overlaps, the secret before works too. */
function matchesPrevious(key: ApiKey, presented: Buffer, nowMs: number): boolean {
  const { previousSecretHash, previousSecretUntilMs } = key;
  if (previousSecretHash === null || previousSecretUntilMs === null || nowMs >= previousSecretUntilMs) return false;
  return secretsEqual(presented, previousSecretHash);
}

/** `named` is what the request names; null: nothing. */
async function namedProject(deps: AuthenticateDeps, key: ApiKey, named: string | null): Promise<Project> {
  const projectId = named ?? onlyBoundProject(key);
  if (projectId === null) {
    throw unauthenticated(
      'project_scope_required',
      'An API key on this route needs a project; name it in X-Project-Id.',
    );
  }
  const { organization } = key;
  // What nothing can have as its id is not looked for, and so not remembered either.
  const found = isNameable(projectId) ? await deps.keys.findProject(projectId) : null;
  const project = found?.organizationId === organization.id ? found : null;
  // A project that is hidden from the key is refused like none, and after the same work. One that only the grants of
  // the key name is no secret to it.
  const place = projectScope(project ?? { ...NOWHERE, organizationId: organization.id });
  const isHidden = named !== null && !holdsAnything(principalOf(key), place);
  if (project === null || isHidden) {
    throw unauthenticated('unknown_project', 'The project named in X-Project-Id or Basic is not known.');
  }
  return project;
}

const NOWHERE = { teamId: '', id: '' };

/** A key bound to exactly one project needs no header to say which. */
function onlyBoundProject(key: ApiKey): string | null {
  const ids = new Set<string>();
  for (const binding of key.bindings) if (binding.scopeType === 'PROJECT') ids.add(binding.scopeId);
  const [only] = ids;
  return ids.size === 1 && only !== undefined ? only : null;
}

function projectKeyCaller(project: Project): Caller {
  return {
    kind: 'project_key',
    principal: { kind: 'project', projectId: project.id },
    organization: {
      id: project.organizationId,
      number: project.organizationNumber,
      priceVersion: project.priceVersion,
    },
    project,
  };
}

function apiKeyCaller(key: ApiKey, project: Project | null): Caller {
  return { kind: 'api_key', principal: principalOf(key), organization: key.organization, key, project };
}

function principalOf({ keyType, bindings, ownerBindings }: ApiKey): Principal {
  return keyType === 'personal'
    ? { kind: 'personal', keyGrants: bindings, ownerGrants: ownerBindings }
    : { kind: 'service', keyGrants: bindings };
}

function unauthenticated(
  code: 'missing_credentials' | 'invalid_credentials' | 'project_scope_required' | 'unknown_project',
  message: string,
): Fault {
  return new Fault(code, message);
}
