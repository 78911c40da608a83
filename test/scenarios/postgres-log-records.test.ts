import { afterAll, beforeAll, expect, it } from 'vitest';
import { attributes, exportOf, id, toOtlpJson } from '../otlp/sending.ts';
import { logsOf, logsToJson } from '../otlp/sending-logs.ts';
import { hex } from '../support/fixtures.ts';
import { isFullTier } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const SPANS = isFullTier ? 200 : 15;
const RECORDS = 6;
const headers = { 'x-auth-token': PROJECT_KEY };
const NOW = BigInt(Date.now()) * 1_000_000n;

let database: TestDatabase;
let servers: readonly SpawnedServer[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await spawnServer(database.environment), await spawnServer(database.environment)];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await database.remove();
});

it('records and their span that reach two processes at once join, whichever comes first', async () => {
  const post = async (turn: number, path: string, body: string) => {
    const { address } = servers[turn % servers.length] as SpawnedServer;
    const answer = await callRest(address, { verb: 'POST', path, headers, body });
    expect([answer.status, answer.body]).toEqual([200, {}]);
  };
  const send = async (traceId: string) => {
    const ids = { traceId: id(traceId), spanId: id(hex(16)) };
    const span = { ...ids, name: 'chat', startTimeUnixNano: NOW, endTimeUnixNano: NOW + 1n };
    const whole = { ...span, attributes: attributes({ 'gen_ai.request.model': 'gpt-5-mini' }) };
    const records = Array.from({ length: RECORDS }, (_, index) => ({
      ...ids,
      timeUnixNano: NOW + BigInt(index),
      eventName: 'gen_ai.user.message',
      attributes: attributes({ content: `part ${index}` }),
    }));
    const posts = records.map((record, turn) => () => post(turn, '/v1/logs', logsToJson(logsOf([record]))));
    posts.splice(Number.parseInt(traceId.slice(0, 2), 16) % RECORDS, 0, () =>
      post(0, '/v1/traces', toOtlpJson(exportOf([whole]))),
    );
    posts.push(() => post(1, '/v1/traces', toOtlpJson(exportOf([whole]))));
    await Promise.all(posts.map((each) => each()));
  };
  const traceIds = Array.from({ length: SPANS }, () => hex(32));
  for (const traceId of traceIds) await send(traceId);
  for (const traceId of traceIds) {
    const { address } = servers[0] as SpawnedServer;
    const { body } = await callRest(address, { path: `/api/traces/${traceId}`, headers });
    expect(body.spans).toHaveLength(1);
    expect(body.spans[0]).toMatchObject({
      type: 'llm',
      input: { value: Array.from({ length: RECORDS }, (_, index) => ({ role: 'user', content: `part ${index}` })) },
    });
  }
}, 120_000);
