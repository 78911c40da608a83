import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Binding } from '../../src/domain/permissions.ts';
import { deriveRootKeys, hashSecret, mintApiKey, mintProjectKey } from '../../src/domain/secrets.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/storage/open.ts';
import { quietLog } from '../storage/quiet-log.ts';
import { llmTrace } from '../support/fixtures.ts';
import { type Asked, openHttp1, openLines } from '../support/open-lines.ts';
import { createPlace, type Place, TEST_SECRET } from '../support/place.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { createTraceSender, type Load, startLoad, type TraceSender } from '../support/trace-sender.ts';
import { walkLog } from '../support/walk-log.ts';

const ORGANIZATION = 'organization-of-the-test';
const PROJECT = 'project-of-the-test';
const ROUNDS = isFullTier ? 300 : 48;
const LOAD_CLIENTS = 2;
const PEPPER = deriveRootKeys(TEST_SECRET).pepper;
const WHOLE_ORGANIZATION: Binding = {
  role: 'ADMIN',
  scopeType: 'ORGANIZATION',
  scopeId: ORGANIZATION,
  permissions: [],
};

type Sql = (text: string, values: readonly unknown[]) => Promise<unknown>;
type Deps = { readonly store: Store; readonly sql: Sql };

/** A credential that works, and how it ends. */
type Credential = {
  readonly asked: Asked;
  readonly token: string;
  /** Resolves when the change is committed, which is when it would be acknowledged. */
  readonly end: () => Promise<unknown>;
  readonly refusedWith: number;
  /** What works from then on. */
  readonly successor?: string;
};

const ENDS: { readonly [name: string]: (deps: Deps) => Promise<Credential> } = {
  revoked: async (deps) => {
    const { id, token } = await addKey(deps, null);
    const end = () => deps.sql('UPDATE api_keys SET revoked_at = $2 WHERE id = $1', [id, Date.now()]);
    return { asked: 'organization', token, end, refusedWith: 401 };
  },
  expired: async (deps) => {
    const { id, token } = await addKey(deps, null);
    const end = () => deps.sql('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [id, Date.now() - 1]);
    return { asked: 'organization', token, end, refusedWith: 401 };
  },
  narrowed: async (deps) => {
    const { id, token } = await addKey(deps, null);
    const end = () => deps.sql('DELETE FROM api_key_bindings WHERE api_key_id = $1', [id]);
    return { asked: 'organization', token, end, refusedWith: 403 };
  },
  'member disabled': async (deps) => {
    const userId = await addMember(deps);
    const { token } = await addKey(deps, userId);
    const end = () => deps.sql('UPDATE members SET disabled_at = $2 WHERE user_id = $1', [userId, Date.now()]);
    return { asked: 'organization', token, end, refusedWith: 401 };
  },
  'project archived': async (deps) => {
    const { id, token } = await addProject(deps);
    const end = () => deps.sql('UPDATE projects SET archived_at = $2 WHERE id = $1', [id, Date.now()]);
    return { asked: 'project', token, end, refusedWith: 401 };
  },
  'project key rotated': async (deps) => {
    const { id, token } = await addProject(deps);
    const successor = mintProjectKey('sk-lw-', randomBytes).token;
    const end = () => deps.sql('UPDATE projects SET key_hash = $2 WHERE id = $1', [id, hashSecret(PEPPER, successor)]);
    return { asked: 'project', token, end, refusedWith: 401, successor };
  },
};

/** A key for everything in the organization, of a member or of a service. */
async function addKey({ store }: Deps, userId: string | null): Promise<{ id: string; token: string }> {
  const { keyId, secret, token } = mintApiKey('sk-lw-', randomBytes);
  await store.keys.insertApiKey({
    id: keyId,
    organizationId: ORGANIZATION,
    keyType: userId === null ? 'service' : 'personal',
    name: 'key of a round',
    userId,
    createdByUserId: null,
    permissionMode: 'all',
    secretHash: hashSecret(PEPPER, secret),
    imported: false,
    expiresAtMs: null,
    createdAtMs: Date.now(),
    bindings: [{ ...WHOLE_ORGANIZATION, id: newId('rolebinding', randomBytes) }],
  });
  return { id: keyId, token };
}

async function addMember({ sql }: Deps): Promise<string> {
  const userId = newId('user', randomBytes);
  const values = [ORGANIZATION, userId];
  await sql(
    `INSERT INTO members (organization_id, user_id, email, name, created_at, updated_at)
     VALUES ($1, $2, $2 || '@localhost', 'Member of a round', 0, 0)`,
    values,
  );
  await sql(
    `INSERT INTO role_bindings (organization_id, user_id, id, role, scope_type, scope_id, permissions, created_at)
     VALUES ($1, $2, 'binding', 'ADMIN', 'ORGANIZATION', $1, '[]', 0)`,
    values,
  );
  return userId;
}

async function addProject({ sql }: Deps): Promise<{ id: string; token: string }> {
  const id = newId('project', randomBytes);
  const { token } = mintProjectKey('sk-lw-', randomBytes);
  await sql(
    `INSERT INTO projects (id, organization_id, team_id, name, slug, language, framework, emit_request_events,
       key_hash, key_hint, key_imported, created_at, updated_at)
     SELECT $1, organization_id, team_id, name, slug, language, framework, emit_request_events,
       $2, key_hint, false, created_at, updated_at
     FROM projects WHERE id = $3`,
    [id, hashSecret(PEPPER, token), PROJECT],
  );
  return { id, token };
}

/** `early`: answered before the end, `underWay`: answered after it to who had asked before. */
type Counts = { asked: number; stale: number; early: number; underWay: number };

/** Asks over open connections all along; whatever is asked after the end must be refused. */
async function playRound(credential: Credential, counts: Counts): Promise<void> {
  const [a, b] = servers;
  const { asked, token, end, refusedWith, successor } = credential;
  const works = asked === 'organization' ? 200 : 404;
  const lines = openLines(b.address);
  const restless = [openHttp1(a.address), openHttp1(b.address)];
  let hasEnded = false;
  let isOver = false;
  try {
    for (const line of lines) expect(await line.ask(asked, token), `${line.name} before the end`).toBe(works);
    const asking = restless.map(async (line) => {
      while (!isOver) {
        const isAfter = hasEnded;
        const status = await line.ask(asked, token);
        counts.asked += 1;
        if (isAfter && status !== refusedWith) counts.stale += 1;
        if (!isAfter && status === works) counts[hasEnded ? 'underWay' : 'early'] += 1;
      }
    });
    // Every process has seen the credential work by now, and goes on doing so.
    const early = counts.early;
    await until(() => counts.early >= early + restless.length);
    await end();
    hasEnded = true;
    for (const line of lines) {
      counts.asked += 1;
      if ((await line.ask(asked, token)) !== refusedWith) counts.stale += 1;
      expect(line.connections(), `connections of ${line.name}`).toBe(1);
      if (successor !== undefined) expect(await line.ask(asked, successor)).toBe(works);
    }
    isOver = true;
    await Promise.all(asking);
  } finally {
    isOver = true;
    for (const line of [...lines, ...restless]) line.close();
  }
}

let place: Place;
let servers: readonly [SpawnedServer, SpawnedServer];
let client: pg.Client;
let store: Store;
beforeAll(async () => {
  place = await createPlace();
  const environment = {
    ...place.environment,
    SPANDREL_BOOTSTRAP_ORGANIZATION_ID: ORGANIZATION,
    SPANDREL_BOOTSTRAP_PROJECT_ID: PROJECT,
  };
  servers = [await spawnServer(environment), await spawnServer(environment)];
  store = await openStore({ url: place.url, queueMaxBytes: 1024 * 1024, log: quietLog });
  client = new pg.Client({ connectionString: place.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await store.close();
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await place.remove();
});

/** Traces through both processes, so that what they keep is in use all the time. */
function startTraces(): { readonly sender: TraceSender; readonly load: Load } {
  const sender = createTraceSender({ addresses: () => servers.map((server) => server.address) });
  return { sender, load: startLoad(LOAD_CLIENTS, () => sender.send(llmTrace(Date.now()))) };
}

it(`K2: a credential that has ended is refused by another process on the very next request, ${ROUNDS} times`, async () => {
  const deps: Deps = { store, sql: (text, values) => client.query(text, [...values]) };
  const counts = { asked: 0, stale: 0, early: 0, underWay: 0 };
  const { sender, load } = startTraces();
  const kinds = Object.values(ENDS);
  for (let round = 0; round < ROUNDS; round++) {
    const credential = await kinds[round % kinds.length]?.(deps);
    if (credential !== undefined) await playRound(credential, counts);
  }
  await load.stop();
  const pass = counts.stale === 0 && sender.refusals.wrong.length === 0;
  report({ id: 'K2', seed: 0, n: counts.asked, lost: counts.stale, pass });
  expect(counts.stale).toBe(0);
  // The credential of the load never ends, so nothing may refuse it.
  expect(sender.refusals).toEqual({ cut: 0, unavailable: 0, wrong: [] });
  expect(sender.acknowledged.length).toBeGreaterThan(ROUNDS);
  expect(counts.underWay, 'questions under way while the credential ended').toBeGreaterThan(0);
}, 300_000);

it('K2: what a project chooses in one process holds for the very next trace in another', async () => {
  const headers = { 'x-auth-token': PROJECT_KEY };
  const [a, b] = servers;
  const { load } = startTraces();
  const sent: { readonly traceId: string; readonly emits: boolean }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const emits = round % 2 === 1;
    const settings = { verb: 'PATCH', path: '/api/project/settings', body: { emitRequestEvents: emits }, headers };
    expect((await callRest(a.address, settings)).status).toBe(200);
    for (const server of [b, a]) {
      const body = llmTrace(Date.now());
      const answer = await callRest(server.address, { verb: 'POST', path: '/api/collector', body, headers });
      expect(answer.status, answer.text).toBe(200);
      sent.push({ traceId: body.trace_id, emits });
    }
  }
  await load.stop();
  const emitted = new Set((await walkLog({ address: () => b.address })).map((event) => event.data.trace_id));
  const wrong = sent.filter(({ traceId, emits }) => emitted.has(traceId) !== emits).length;
  report({ id: 'K2 settings', seed: 0, n: sent.length, lost: wrong, pass: wrong === 0 });
  expect(wrong).toBe(0);
}, 300_000);
