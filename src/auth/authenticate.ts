/** Verifies credentials, reading the store on every call: a revoked key is refused on the next request. */

import { Credential, type Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { ApiKey, Caller, Project } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Fault } from '../domain/fault.ts';
import { isPossibleId } from '../domain/ids.ts';
import { holdsAnything, principalOf, projectScope } from '../domain/keys/permissions.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import { hashSecret, type ParsedToken, parseToken, secretsEqual } from '../domain/secrets.ts';
import { type HeaderReader, readCredentials, readProjectId } from './credential.ts';

/**
 * Verifies the credential that applies to a route with this policy. On a route for API keys, it also verifies a
 * project key that comes first, so that the refusal can name the mistake.
 */
export type Authenticate = (policy: Policy, header: HeaderReader) => Promise<Caller>;

type AuthenticateDeps = {
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly pepper: Buffer;
  readonly prefixes: readonly string[];
};

type Verified =
  | { readonly kind: 'api_key'; readonly key: ApiKey }
  | { readonly kind: 'project_key'; readonly project: Project };
type ApiKeyToken = Extract<ParsedToken, { kind: 'apiKey' }>;

const HASH_BYTES = 32;
// Created once, because a flood of refused credentials must cost little, and to create an error costs much.
const MISSING = new Fault(
  'missing_credentials',
  'No credential was sent; send an API key as a Bearer token or in X-Auth-Token.',
);
/** Repeats nothing of the header, which may be a token. */
const NO_SCHEME = new Fault(
  'missing_credentials',
  'Authorization was sent without a credential that can be read; it needs Bearer before the token.',
);
const INVALID = new Fault('invalid_credentials', 'The credential is not valid.');
const NO_PROJECT = new Fault(
  'project_scope_required',
  'An API key on this route needs a project; name it in X-Project-Id.',
);
const UNKNOWN_PROJECT = new Fault('unknown_project', 'The project named in X-Project-Id or Basic is not known.');
/** Compared when a key id is unknown, so that the time does not reveal it. */
const NO_HASH = Buffer.alloc(HASH_BYTES);

export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  return async (policy, header) => {
    const presented = readCredentials(header);
    if (presented.length === 0) throw header('authorization')?.trim() ? NO_SCHEME : MISSING;
    // The first valid credential of the route's class is chosen, so that a foreign one in another header does no harm. On a
    // route for API keys, a project key is chosen only when there is none: if the policy admits it, or if it comes first,
    // so that the refusal names the mistake.
    let projectKey: Project | null = null;
    for (const each of presented) {
      const proven = await verify(deps, each.token);
      if (!proven) continue;
      if (proven.kind === 'api_key') {
        if (policy.credential === Credential.ORGANIZATION) return apiKeyCaller(proven.key, null);
        return apiKeyCaller(proven.key, await namedProject(deps, proven.key, each.basicUser ?? readProjectId(header)));
      }
      if (policy.credential !== Credential.ORGANIZATION) return projectKeyCaller(proven.project);
      if (policy.projectKeys || each === presented[0]) projectKey ??= proven.project;
    }
    if (projectKey === null) throw INVALID;
    return projectKeyCaller(projectKey);
  };
}

async function verify(deps: AuthenticateDeps, token: string): Promise<Verified | null> {
  const parsed = parseToken(token, deps.prefixes);
  if (!parsed) return null;
  // Only imported tokens lack a valid checksum or the shape of minted ones.
  const isMintedHere = parsed.checksumValid && (parsed.kind === 'apiKey' || parsed.minted);
  if (!isMintedHere && !(await deps.keys.hasImportedCredentials())) return null;
  if (parsed.kind === 'apiKey') {
    const found = deps.keys.findApiKey(parsed.keyId);
    const key = found instanceof Promise ? await found : found;
    const isProven = provesKey(deps, parsed, key);
    if (key && isProven) return { kind: 'api_key', key };
    // Makes up for the faster read of an existing key: the time must not reveal it.
    const decoy = key ? deps.keys.readDecoy() : null;
    if (decoy instanceof Promise) await decoy;
    // A project key that looks like an API key can only be an imported one.
    const hasImported = deps.keys.hasImportedCredentials();
    if (!(hasImported instanceof Promise ? await hasImported : hasImported)) return null;
  }
  const found = deps.keys.findProjectByKeyHash(hashSecret(deps.pepper, token), deps.clock());
  const project = found instanceof Promise ? await found : found;
  return project ? { kind: 'project_key', project } : null;
}

/** Whether the token has the secret of a key that is alive. With no key it does the same work. */
function provesKey({ pepper, clock }: AuthenticateDeps, { secret }: ApiKeyToken, key: ApiKey | null): boolean {
  const presented = hashSecret(pepper, secret);
  const nowMs = clock();
  const isEqual =
    secretsEqual(presented, key?.secretHash ?? NO_HASH) || (key !== null && matchesPrevious(key, presented, nowMs));
  return isEqual && key !== null && isAlive(key, nowMs);
}

function isAlive({ revokedAtMs, expiresAtMs, ownerActive }: ApiKey, nowMs: number): boolean {
  return revokedAtMs === null && (expiresAtMs === null || nowMs < expiresAtMs) && ownerActive;
}

/** While a rotation overlaps, the old secret works too. */
function matchesPrevious(key: ApiKey, presented: Buffer, nowMs: number): boolean {
  const { previousSecretHash, previousSecretUntilMs } = key;
  if (previousSecretHash === null || previousSecretUntilMs === null || nowMs >= previousSecretUntilMs) return false;
  return secretsEqual(presented, previousSecretHash);
}

/** `named` is the request's project id, or null. */
async function namedProject(deps: AuthenticateDeps, key: ApiKey, named: string | null): Promise<Project> {
  const projectId = named ?? onlyBoundProject(key);
  if (projectId === null) {
    throw NO_PROJECT;
  }
  const { organization } = key;
  // An impossible id is not looked up, so no cache remembers it either.
  const found = isPossibleId(projectId) ? await deps.keys.findProject(projectId) : null;
  const project = found?.organizationId === organization.id ? found : null;
  // A project hidden from the key is refused like an unknown one, after the same work. A project from the bindings
  // of the key is not hidden.
  const scope = projectScope(project ?? { ...NOWHERE, organizationId: organization.id });
  const isHidden = named !== null && !holdsAnything(principalOf(key, key.ownerBindings), scope);
  if (project === null || isHidden) {
    throw UNKNOWN_PROJECT;
  }
  return project;
}

const NOWHERE = { teamId: '', id: '' };

/** A key bound to exactly one project needs no header to name it. */
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
  const principal = principalOf(key, key.ownerBindings);
  return { kind: 'api_key', principal, organization: key.organization, key, project };
}
