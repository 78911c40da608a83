import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { addKey, custom } from '../support/fixtures.ts';
import { type Asked, openHttp1, openLines } from '../support/open-lines.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { type Body, callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';

const ROUNDS = isFullTier ? 100 : 10;

let nowMs = Date.now();
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => nowMs });
});
afterAll(async () => {
  await app.close();
});

/** With the power of the first administrator; throws unless it succeeds. */
async function act(verb: string, path: string, body?: object): Promise<Body> {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const answer = await callRest(app.address, { verb, path, headers, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${verb} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** A credential that works, what ends it, and what it is answered from then on. */
type Credential = {
  readonly asked: Asked;
  readonly token: string;
  readonly end: () => Promise<unknown>;
  readonly refusedWith: number;
  /** Tokens that work once it has ended. */
  readonly successors?: () => readonly string[];
};

const everything = () => [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
const keyPath = (id: string) => `/api/api-keys/${id}`;

const mintService = () => act('POST', '/api/api-keys', { name: 'service', keyType: 'service' });
const addProject = () => act('POST', '/api/projects', { name: newId('p', randomBytes) });

async function addMember(): Promise<{ path: string; email: string; token: string }> {
  const email = `${newId('m', randomBytes).toLowerCase()}@localhost`;
  const { userId } = await act('POST', '/api/organization/members', { email, name: 'Somebody', role: 'ADMIN' });
  const body = { name: 'personal', assignedToUserId: userId, bindings: everything() };
  const { token } = await act('POST', '/api/api-keys', body);
  return { path: `/api/organization/members/${userId}`, email, token };
}

const ENDS: { readonly [name: string]: () => Promise<Credential> } = {
  'a key that is revoked': async () => {
    const { id, token } = await mintService();
    return { asked: 'organization', token, end: () => act('DELETE', keyPath(id)), refusedWith: 401 };
  },
  'the token before a rotation': async () => {
    const { id, token } = await mintService();
    let successor = '';
    const end = async () => {
      successor = (await act('POST', `${keyPath(id)}/rotate`)).token;
    };
    return { asked: 'organization', token, end, refusedWith: 401, successors: () => [successor] };
  },
  'a key whose grants are replaced': async () => {
    const { id, token } = await mintService();
    const bindings = [{ role: 'VIEWER', scopeType: 'ORGANIZATION', scopeId: app.organizationId }];
    return { asked: 'organization', token, end: () => act('PATCH', keyPath(id), { bindings }), refusedWith: 403 };
  },
  'a key whose owner is demoted': async () => {
    const { path, token } = await addMember();
    return { asked: 'organization', token, end: () => act('PATCH', path, { role: 'MEMBER' }), refusedWith: 403 };
  },
  'a key whose owner is disabled': async () => {
    const { path, token } = await addMember();
    return { asked: 'organization', token, end: () => act('PATCH', path, { disabled: true }), refusedWith: 401 };
  },
  'a key whose owner is removed and added again': async () => {
    const { path, email, token } = await addMember();
    const end = async () => {
      await act('DELETE', path);
      await act('POST', '/api/organization/members', { email, name: 'Again', role: 'ADMIN' });
    };
    return { asked: 'organization', token, end, refusedWith: 401 };
  },
  'the key of a project that is archived': async () => {
    const { id, apiKey } = await addProject();
    return { asked: 'project', token: apiKey, end: () => act('DELETE', `/api/projects/${id}`), refusedWith: 401 };
  },
  'the key of a project before a rotation': async () => {
    const { id, apiKey } = await addProject();
    let successor = '';
    const end = async () => {
      successor = (await act('POST', `/api/projects/${id}/rotate-api-key`)).apiKey;
    };
    return { asked: 'project', token: apiKey, end, refusedWith: 401, successors: () => [successor] };
  },
  'a key that expires': async () => {
    const expiresAt = nowMs + 60_000;
    const { token } = await act('POST', '/api/api-keys', { name: 'short', keyType: 'service', expiresAt });
    nowMs = expiresAt - 1;
    const end = async () => {
      nowMs = expiresAt;
    };
    return { asked: 'organization', token, end, refusedWith: 401 };
  },
  'the token before a rotation with an overlap': async () => {
    const { id, token } = await mintService();
    const successor = (await act('POST', `${keyPath(id)}/rotate`, { overlapSeconds: 60 })).token;
    const endsAtMs = nowMs + 60_000;
    nowMs = endsAtMs - 1;
    const end = async () => {
      nowMs = endsAtMs;
    };
    return { asked: 'organization', token, end, refusedWith: 401, successors: () => [successor] };
  },
};

type Counts = { asked: number; stale: number; before: number };

/** Asks on connections that stay open, one of them all the time; whatever is asked after the end must be refused. */
async function playRound(credential: Credential, counts: Counts): Promise<void> {
  const { asked, token, end, refusedWith, successors = () => [] } = credential;
  const works = asked === 'organization' ? 200 : 404;
  const lines = openLines(app.address);
  const restless = openHttp1(app.address);
  let hasEnded = false;
  let isOver = false;
  try {
    for (const line of lines) expect(await line.ask(asked, token), `${line.name} before the end`).toBe(works);
    const askOnAndOn = async () => {
      while (!isOver) {
        const isAfter = hasEnded;
        const status = await restless.ask(asked, token);
        counts.asked += 1;
        if (isAfter && status !== refusedWith) counts.stale += 1;
        if (!isAfter && status === works) counts.before += 1;
      }
    };
    const asking = askOnAndOn();
    const { before } = counts;
    await until(() => counts.before > before);
    await end();
    hasEnded = true;
    for (const line of lines) {
      counts.asked += 1;
      if ((await line.ask(asked, token)) !== refusedWith) counts.stale += 1;
      for (const successor of successors()) expect(await line.ask(asked, successor), line.name).toBe(works);
      expect(line.connections(), `connections of ${line.name}`).toBe(1);
    }
    isOver = true;
    await asking;
  } finally {
    isOver = true;
    for (const line of [...lines, restless]) line.close();
  }
}

describe('K2: on connections that stay open, the very next request is refused', () => {
  it.each(Object.entries(ENDS))('to %s', async (name, make) => {
    const counts = { asked: 0, stale: 0, before: 0 };
    for (let round = 0; round < ROUNDS; round++) await playRound(await make(), counts);
    report({ id: `K2 ${name}`, seed: 0, n: counts.asked, lost: counts.stale, pass: counts.stale === 0 });
    expect(counts.stale).toBe(0);
    expect(counts.before).toBeGreaterThan(0);
  });

  it('and what is given back works on the very next one', async () => {
    const { path, token } = await addMember();
    const lines = openLines(app.address);
    for (const disabled of [true, false, true]) {
      await act('PATCH', path, { disabled });
      for (const line of lines) expect(await line.ask('organization', token), line.name).toBe(disabled ? 401 : 200);
    }
    for (const line of lines) line.close();
  });
});

it('a CUSTOM grant whose list came into the store empty grants nothing', async () => {
  const token = await addKey(app, { bindings: [custom('ORGANIZATION', app.organizationId, [])] });
  const lines = openLines(app.address);
  for (const line of lines) expect(await line.ask('organization', token), line.name).toBe(403);
  for (const line of lines) line.close();
});
