import { Client, credentials } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { startCluster } from '../support/postgres.ts';
import { PROJECT_KEY, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { TEST_SECRET } from '../support/test-database.ts';

const REQUESTS = 40;
const HEAL_MAX_MS = 30_000;
const SERVING = Buffer.from([0x08, 1]);
const NOT_SERVING = Buffer.from([0x08, 2]);

it('an outage is one line when it begins and one when it ends, and health says so meanwhile', async () => {
  const cluster = await startCluster();
  const url = await cluster.createDatabase();
  const server = await spawnServer({ SPANDREL_DATABASE_URL: url, SPANDREL_SECRET: TEST_SECRET });
  try {
    const report = async () => {
      const records = [{ gateway_request_id: 'gw', status: 'success', occurred_at: Date.now() }];
      const headers = { 'x-auth-token': PROJECT_KEY };
      const path = '/api/gateway/v1/requests';
      return await callRest(server.address, { verb: 'POST', path, body: { records }, headers });
    };
    const isHealth = async (wanted: Buffer) => (await checkHealth(server.address)).equals(wanted);
    expect((await report()).status).toBe(200);
    expect(await isHealth(SERVING)).toBe(true);
    await cluster.stop('fast');
    for (let request = 0; request < REQUESTS; request += 1) {
      const answer = await report();
      expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable']);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    await until(() => isHealth(NOT_SERVING), HEAL_MAX_MS);
    await cluster.start();
    await until(() => isHealth(SERVING), HEAL_MAX_MS);
    await until(() => server.output().includes('the store is back'), HEAL_MAX_MS);
    expect((await report()).body).toEqual({ accepted: 1, rejected: [] });
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const logged = lines.map((line) => JSON.parse(line)).map(({ level, msg }) => `${level} ${msg}`);
    expect(logged).toEqual(['30 ready', '40 the store is away', '30 the store is back']);
  } finally {
    await server.stop('SIGTERM');
    await cluster.remove();
  }
});

/** The bytes of grpc.health.v1.HealthCheckResponse. */
async function checkHealth(address: string): Promise<Buffer> {
  const client = new Client(new URL(address).host, credentials.createInsecure());
  const bytes = (value: Buffer) => value;
  try {
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', bytes, bytes, Buffer.alloc(0), (error, value) =>
        error ? reject(error) : resolve(value ?? Buffer.alloc(0)),
      );
    });
  } finally {
    client.close();
  }
}
