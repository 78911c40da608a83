/** Credentials, the rpcs that end them, and requests that go on meanwhile. */

import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { type CredentialClass, openHttp1, openLines } from './open-lines.ts';
import { type Body, callRest } from './surfaces.ts';
import { until } from './temp.ts';

/** The instant at which an API key or its previous token ends. */
export type KeyEnd = { readonly keyId: string; readonly what: 'key' | 'token before'; readonly atMs: number };

export type EndsDeps = {
  /** Sends a request as an administrator; throws unless it succeeds. */
  readonly act: (verb: string, path: string, body?: object) => Promise<Body>;
  readonly organizationId: string;
  readonly nowMs: () => number;
  /** Advances time to just before an end. */
  readonly approach: (end: KeyEnd) => void;
  /** Advances time to an end. */
  readonly reach: (end: KeyEnd) => Promise<void>;
};

/** A valid credential, the request that ends it, and the status from then on. */
export type Credential = {
  readonly credentialClass: CredentialClass;
  readonly token: string;
  readonly end: () => Promise<unknown>;
  readonly refusedWith: number;
  /** Tokens that work before and after the end. */
  readonly successors?: readonly string[];
};

/** Sends requests with the token to one server. */
export function actAt(address: string, token: string): EndsDeps['act'] {
  return async (verb, path, body) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await callRest(address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${verb} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
}

const TERM_MS = 60_000;
const keyPath = (id: string) => `/api/api-keys/${id}`;

/** Adds an administrator with a personal key for everything. */
export async function addAdministrator({ act, organizationId }: EndsDeps) {
  const email = `${newId('m', randomBytes).toLowerCase()}@localhost`;
  const { userId } = await act('POST', '/api/organization/members', { email, name: 'Somebody', role: 'ADMIN' });
  const bindings = [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: organizationId }];
  const body = { name: 'personal', assignedToUserId: userId, bindings };
  const { token } = await act('POST', '/api/api-keys', body);
  return { path: `/api/organization/members/${userId}`, email, token: String(token) };
}

export type Ends = { readonly [name: string]: () => Promise<Credential> };

/** By the name of the end; each call creates a new credential. */
export function createEnds(deps: EndsDeps): Ends {
  return { ...createKeyEnds(deps), ...createOwnerEnds(deps), ...createProjectEnds(deps), ...createTimedEnds(deps) };
}

const mintService = ({ act }: EndsDeps) => act('POST', '/api/api-keys', { name: 'service', keyType: 'service' });

function createKeyEnds(deps: EndsDeps): Ends {
  const { act, organizationId } = deps;
  return {
    'a key that is revoked': async () => {
      const { id, token } = await mintService(deps);
      return { credentialClass: 'organization', token, end: () => act('DELETE', keyPath(id)), refusedWith: 401 };
    },
    'the token before a rotation': async () => {
      const { id, token } = await mintService(deps);
      const successors: string[] = [];
      const end = async () => {
        successors.push((await act('POST', `${keyPath(id)}/rotate`)).token);
      };
      return { credentialClass: 'organization', token, end, refusedWith: 401, successors };
    },
    'a key whose grants are replaced': async () => {
      const { id, token } = await mintService(deps);
      const bindings = [{ role: 'VIEWER', scopeType: 'ORGANIZATION', scopeId: organizationId }];
      return {
        credentialClass: 'organization',
        token,
        end: () => act('PATCH', keyPath(id), { bindings }),
        refusedWith: 403,
      };
    },
  };
}

function createOwnerEnds(deps: EndsDeps): Ends {
  const { act } = deps;
  return {
    'a key whose owner is demoted': async () => {
      const { path, token } = await addAdministrator(deps);
      return {
        credentialClass: 'organization',
        token,
        end: () => act('PATCH', path, { role: 'MEMBER' }),
        refusedWith: 403,
      };
    },
    'a key whose owner is disabled': async () => {
      const { path, token } = await addAdministrator(deps);
      return {
        credentialClass: 'organization',
        token,
        end: () => act('PATCH', path, { disabled: true }),
        refusedWith: 401,
      };
    },
    'a key whose owner is removed and added again': async () => {
      const { path, email, token } = await addAdministrator(deps);
      const end = async () => {
        await act('DELETE', path);
        await act('POST', '/api/organization/members', { email, name: 'Again', role: 'ADMIN' });
      };
      return { credentialClass: 'organization', token, end, refusedWith: 401 };
    },
  };
}

function createProjectEnds({ act }: EndsDeps): Ends {
  const addProject = () => act('POST', '/api/projects', { name: newId('p', randomBytes) });
  return {
    'the key of a project that is archived': async () => {
      const { id, apiKey } = await addProject();
      return {
        credentialClass: 'project',
        token: apiKey,
        end: () => act('DELETE', `/api/projects/${id}`),
        refusedWith: 401,
      };
    },
    'the key of a project before a rotation': async () => {
      const { id, apiKey } = await addProject();
      const successors: string[] = [];
      const end = async () => {
        successors.push((await act('POST', `/api/projects/${id}/rotate-api-key`)).apiKey);
      };
      return { credentialClass: 'project', token: apiKey, end, refusedWith: 401, successors };
    },
  };
}

function createTimedEnds(deps: EndsDeps): Ends {
  const { act, nowMs, approach, reach } = deps;
  return {
    'a key that expires': async () => {
      const atMs = nowMs() + TERM_MS;
      const { id, token } = await act('POST', '/api/api-keys', { name: 'short', keyType: 'service', expiresAt: atMs });
      const expiry: KeyEnd = { keyId: id, what: 'key', atMs };
      approach(expiry);
      return { credentialClass: 'organization', token, end: () => reach(expiry), refusedWith: 401 };
    },
    'the token before a rotation with an overlap': async () => {
      const { id, token } = await mintService(deps);
      const rotatedAtMs = nowMs();
      const overlapSeconds = TERM_MS / 1000;
      const successors = [(await act('POST', `${keyPath(id)}/rotate`, { overlapSeconds })).token];
      const overlapEnd: KeyEnd = { keyId: id, what: 'token before', atMs: rotatedAtMs + TERM_MS };
      approach(overlapEnd);
      const end = () => reach(overlapEnd);
      return { credentialClass: 'organization', token, end, refusedWith: 401, successors };
    },
  };
}

/** `early`: succeeded before the end; `underWay`: sent before the end, succeeded after it. */
export type Counts = { requests: number; stale: number; early: number; underWay: number };

/** Addresses for sequential requests, and for constant ones. */
export type Askers = { readonly address: string; readonly restless: readonly string[] };

/** Uses connections that stay open; requests after the end must be refused. */
export async function playRound(credential: Credential, askers: Askers, counts: Counts): Promise<void> {
  const { credentialClass, token, end, refusedWith, successors = [] } = credential;
  const works = credentialClass === 'organization' ? 200 : 404;
  const lines = openLines(askers.address);
  const restless = askers.restless.map(openHttp1);
  let hasEnded = false;
  let isOver = false;
  try {
    for (const each of [token, ...successors]) {
      for (const line of lines)
        expect(await line.ask(credentialClass, each), `${line.name} before the end`).toBe(works);
    }
    const invoke = restless.map(async (line) => {
      while (!isOver) {
        const isAfter = hasEnded;
        const status = await line.ask(credentialClass, token);
        counts.requests += 1;
        if (isAfter && status !== refusedWith) counts.stale += 1;
        if (!isAfter && status === works) counts[hasEnded ? 'underWay' : 'early'] += 1;
      }
    });
    // Now every process has accepted the credential and may have cached it.
    const { early } = counts;
    await until(() => counts.early >= early + restless.length);
    await end();
    hasEnded = true;
    for (const line of lines) {
      counts.requests += 1;
      if ((await line.ask(credentialClass, token)) !== refusedWith) counts.stale += 1;
      for (const successor of successors) expect(await line.ask(credentialClass, successor), line.name).toBe(works);
      expect(line.connections(), `connections of ${line.name}`).toBe(1);
    }
    isOver = true;
    await Promise.all(invoke);
  } finally {
    isOver = true;
    for (const line of [...lines, ...restless]) line.close();
  }
}

/** Disabling the owner of a key, and enabling it, affects the very next request, also at another server. */
export async function playGivingBack(deps: EndsDeps, address: string): Promise<void> {
  const { path, token } = await addAdministrator(deps);
  const lines = openLines(address);
  try {
    for (const disabled of [true, false, true]) {
      await deps.act('PATCH', path, { disabled });
      for (const line of lines) expect(await line.ask('organization', token), line.name).toBe(disabled ? 401 : 200);
    }
  } finally {
    for (const line of lines) line.close();
  }
}
