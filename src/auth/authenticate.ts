/** Verifies credentials, reading the store on every call: a revoked key is refused on the next request. */

import { Credential, type Policy } from '../../gen/spandrel/v1/options_pb.js';
import type { ApiKey, Caller, CallingKey, PresentedSession, Project } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Fault } from '../domain/fault.ts';
import { isPossibleId } from '../domain/ids.ts';
import { holdsAnything, principalOf, projectScope } from '../domain/keys/permissions.ts';
import type { KeyStore } from '../domain/management/management-port.ts';
import { hashSecret, hasValidChecksum, parseToken, secretsEqual } from '../domain/secrets.ts';
import { hasEnded } from '../domain/sessions/session.ts';
import { type HeaderReader, readCredentials, readProjectId } from './credential.ts';
import { readSession } from './session-cookie.ts';

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
  /** Whether sessions that keys began count. */
  readonly keySessions: boolean;
  /** The origin of SPANDREL_PUBLIC_URL, whose pages may use sessions beside those of the requested host; null: none. */
  readonly publicOrigin: string | null;
};

/** `keyHash` and `session` are those of the caller. */
type Proof = Pick<Extract<Caller, { kind: 'api_key' }>, 'keyHash' | 'session'>;
type Verified =
  | (Proof & { readonly kind: 'api_key'; readonly key: CallingKey })
  | (Proof & { readonly kind: 'project_key'; readonly project: Project });

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
    if (presented.length === 0) {
      const secret = policy.headerOnly ? null : readSession(header, deps.publicOrigin);
      if (secret === null) throw header('authorization')?.trim() ? NO_SCHEME : MISSING;
      const proven = await verifySession(deps, secret);
      if (!proven) throw INVALID;
      return await callerOf(deps, policy, { proven, named: readProjectId(header) });
    }
    // The first valid credential of the route's class is chosen, so that a foreign one in another header does no harm. On a
    // route for API keys, a project key is chosen only when there is none: if the policy admits it, or if it comes first,
    // so that the refusal names the mistake.
    let projectKey: Extract<Verified, { kind: 'project_key' }> | null = null;
    for (const each of presented) {
      const proven = await verify(deps, each.token);
      if (!proven) continue;
      if (proven.kind === 'api_key' || policy.credential !== Credential.ORGANIZATION) {
        return await callerOf(deps, policy, { proven, named: each.basicUser ?? readProjectId(header) });
      }
      if (policy.projectKeys || each === presented[0]) projectKey ??= proven;
    }
    if (projectKey === null) throw INVALID;
    return projectKeyCaller(projectKey);
  };
}

type Chosen = { readonly proven: Verified; readonly named: string | null };

/** `named` is the project id of the request, or null. */
async function callerOf(deps: AuthenticateDeps, policy: Policy, { proven, named }: Chosen): Promise<Caller> {
  if (proven.kind === 'project_key') return projectKeyCaller(proven);
  const isScoped = policy.credential !== Credential.ORGANIZATION;
  return apiKeyCaller(proven, isScoped ? await namedProject(deps, proven.key, named) : null);
}

/** A session is valid as long as the token that began it would be, or the person may sign in. */
async function verifySession(deps: AuthenticateDeps, secret: string): Promise<Verified | null> {
  const { keys, clock, pepper } = deps;
  if (!hasValidChecksum(secret)) return null;
  const nowMs = clock();
  const session = await keys.findSession(hashSecret(pepper, secret), nowMs);
  if (session === null || hasEnded(session, nowMs)) return null;
  const { keyHash, apiKeyId, projectId } = session;
  if (!deps.keySessions && (apiKeyId !== null || projectId !== null)) return null;
  const proof = { keyHash, session: { id: session.id } };
  if (apiKeyId !== null) {
    const key = await keys.findApiKey(apiKeyId);
    return key !== null && provesKey(deps, keyHash, key) ? { kind: 'api_key', key, ...proof } : null;
  }
  if (projectId === null) return session.ownerActive ? { kind: 'api_key', key: keyOfPerson(session), ...proof } : null;
  const project = await keys.findProjectByKeyHash(keyHash, nowMs);
  return project !== null && project.id === projectId ? { kind: 'project_key', project, ...proof } : null;
}

/** A person who signed in without a key acts as with a key that has all their role bindings. */
function keyOfPerson({ organization, userId, ownerBindings }: PresentedSession): CallingKey {
  const bindings = ownerBindings;
  return { id: null, keyType: 'personal', organization, userId, expiresAtMs: null, bindings, ownerBindings };
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
    const keyHash = hashSecret(deps.pepper, parsed.secret);
    const isProven = provesKey(deps, keyHash, key);
    if (key && isProven) return { kind: 'api_key', key, keyHash };
    // Makes up for the faster read of an existing key: the time must not reveal it.
    const decoy = key ? deps.keys.readDecoy() : null;
    if (decoy instanceof Promise) await decoy;
    // A project key that looks like an API key can only be an imported one.
    const hasImported = deps.keys.hasImportedCredentials();
    if (!(hasImported instanceof Promise ? await hasImported : hasImported)) return null;
  }
  const keyHash = hashSecret(deps.pepper, token);
  const found = deps.keys.findProjectByKeyHash(keyHash, deps.clock());
  const project = found instanceof Promise ? await found : found;
  return project ? { kind: 'project_key', project, keyHash } : null;
}

/** Whether the hash is that of the secret of a key that is alive. With no key it does the same work. */
function provesKey({ clock }: AuthenticateDeps, presented: Buffer, key: ApiKey | null): boolean {
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
async function namedProject(deps: AuthenticateDeps, key: CallingKey, named: string | null): Promise<Project> {
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
function onlyBoundProject(key: CallingKey): string | null {
  const ids = new Set<string>();
  for (const binding of key.bindings) if (binding.scopeType === 'PROJECT') ids.add(binding.scopeId);
  const [only] = ids;
  return ids.size === 1 && only !== undefined ? only : null;
}

function projectKeyCaller(proven: Extract<Verified, { kind: 'project_key' }>): Caller {
  const { project } = proven;
  return {
    ...proven,
    principal: { kind: 'project', projectId: project.id },
    organization: {
      id: project.organizationId,
      number: project.organizationNumber,
      priceVersion: project.priceVersion,
      promptVersion: project.promptVersion,
    },
  };
}

function apiKeyCaller(proven: Extract<Verified, { kind: 'api_key' }>, project: Project | null): Caller {
  const { key } = proven;
  const principal = principalOf(key, key.ownerBindings);
  return { ...proven, principal, organization: key.organization, project };
}
