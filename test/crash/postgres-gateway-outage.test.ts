import { expect, it } from 'vitest';
import { CHAT, gatewayKit } from '../gateway/gateway-fixture.ts';
import { startMockProvider } from '../support/mock-provider.ts';
import { startCluster } from '../support/postgres.ts';
import { query } from '../support/postgres-databases.ts';
import { report } from '../support/scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { TEST_SECRET } from '../support/test-database.ts';
import { walkLog } from '../support/walk-log.ts';

const PROJECT = 'project-of-the-test';
const PATH = '/v1/chat/completions';
const STREAMS = 40;
const REFUSED = 200;
/** Of a stream: some begin before the outage and end in it. */
const BETWEEN_MS = 500;

it('while PostgreSQL is away nothing new is let through, and what was under way is counted once it is back', async () => {
  const cluster = await startCluster();
  const mock = await startMockProvider();
  const url = await cluster.createDatabase();
  const server = await spawnServer({
    SPANDREL_DATABASE_URL: url,
    SPANDREL_SECRET: TEST_SECRET,
    SPANDREL_GATEWAY_ALLOW: '127.0.0.1',
    SPANDREL_BOOTSTRAP_PROJECT_ID: PROJECT,
  });
  try {
    const { address } = server;
    const kit = gatewayKit({ address, adminKey: ADMIN_KEY, projectKey: PROJECT_KEY, projectId: PROJECT }, mock);
    await kit.addProvider({ name: 'openai', kind: 'openai_compatible' });
    const { secret } = await kit.addKey();
    const scope = { kind: 'project', id: PROJECT };
    await kit.addBudget({ scope, limit_usd: '1', reserve: 'worst' });
    const body = { ...CHAT, max_tokens: 1_000 };
    const headers = { 'x-mock-step': JSON.stringify({ betweenMs: BETWEEN_MS }) };
    const streams = Array.from({ length: STREAMS }, () =>
      kit.send(PATH, { secret, body: { ...body, stream: true }, headers }),
    );
    await until(async () => {
      const [row] = await query(url, 'SELECT count(*)::integer AS count FROM requests WHERE state = 2');
      return row?.count === STREAMS;
    });
    await cluster.stop('immediate');
    const asked = mock.requests.length;
    const refused = await Promise.all(Array.from({ length: REFUSED }, () => kit.send(PATH, { secret, body })));
    expect(new Set(refused.map(({ status, text }) => `${status} ${text === '' ? 'empty' : 'told'}`))).toEqual(
      new Set(['503 told']),
    );
    // None of them was delivered; those whose lease had room may have been cancelled on their way.
    expect(mock.requests.slice(asked).filter(({ isAborted }) => !isAborted)).toEqual([]);
    const ended = await Promise.all(streams);
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 200));
    await cluster.start();
    const ids = new Set(ended.map((sent) => `${sent.headers.get('x-langwatch-gateway-request-id')}:completed`));
    const outcomes = async () => (await walkLog({ address: () => address })).filter(({ id }) => ids.has(id));
    await until(async () => (await kit.send(PATH, { secret, body })).status === 200);
    await until(async () => (await outcomes()).length === STREAMS);
    expect(await server.stop('SIGTERM')).toBe(0);
    const [sums] = await query(
      url,
      'SELECT spent_nano_usd::float8 AS spent, leased_nano_usd::float8 AS leased FROM budget_buckets',
    );
    const [costs] = await query(
      url,
      'SELECT sum(nano_usd)::float8 AS spent, count(*)::integer AS count FROM requests WHERE nano_usd > 0',
    );
    expect(sums).toEqual({ spent: costs?.spent, leased: 0 });
    expect(await query(url, 'SELECT 1 FROM requests WHERE state = 2')).toEqual([]);
    report({ id: 'gateway outage', seed: 0, n: costs?.count, pass: true });
  } finally {
    server.child.kill('SIGKILL');
    await mock.close();
    await cluster.remove();
  }
});
