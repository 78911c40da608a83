/** Headers -> Caller. Reads the store on every call: a revoked key is refused on the very next request. */

import { Credential } from '../../gen/spandrel/v1/options_pb.js';
import type { ApiKey, Caller, Project } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { Fault } from '../domain/fault.ts';
import { isNameable } from '../domain/management-call.ts';
import { holdsAnything, type Principal, projectScope } from '../domain/permissions.ts';
import { hashSecret, type ParsedToken, parseToken, secretsEqual } from '../domain/secrets.ts';
import type { KeyStore } from '../domain/store.ts';
import { type HeaderReader, type Presented, readCredential } from './credential.ts';

/** Proves the credential; whether the route takes its class is for the policy to say. */
export type Authenticate = (credential: Credential, header: HeaderReader) => Promise<Caller>;

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
  return async (credential, header) => {
    const presented = readCredential(header);
    const token = pickToken(presented.tokens, credential, deps.prefixes);
    if (token === null) {
      throw unauthenticated(
        'missing_credentials',
        'No credential was sent; send an API key as a Bearer token or in X-Auth-Token.',
      );
    }
    const proven = await prove(deps, token);
    if (!proven) throw unauthenticated('invalid_credentials', 'The credential is not valid.');
    if (proven.kind === 'project_key') return projectKeyCaller(proven.project);
    const project = credential === Credential.ORGANIZATION ? null : await namedProject(deps, proven.key, presented);
    return apiKeyCaller(proven.key, project);
  };
}

/**
 * SDKs send one token in two headers; with two different ones the route's class decides, and
 * otherwise the first position wins.
 */
function pickToken(tokens: readonly string[], credential: Credential, prefixes: readonly string[]): string | null {
  const [first, second] = tokens;
  if (first === undefined) return null;
  if (second === undefined || second === first) return first;
  const wanted = credential === Credential.ORGANIZATION ? 'apiKey' : 'projectKey';
  return tokens.find((token) => parseToken(token, prefixes)?.kind === wanted) ?? first;
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

async function namedProject(deps: AuthenticateDeps, key: ApiKey, presented: Presented): Promise<Project> {
  const projectId = presented.projectId ?? onlyBoundProject(key);
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
  const isHidden = presented.projectId !== null && !holdsAnything(principalOf(key), place);
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
    organization: { id: project.organizationId, number: project.organizationNumber },
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
