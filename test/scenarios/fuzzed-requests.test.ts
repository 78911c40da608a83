/** X4: whatever bytes, JSON and headers arrive, they are stored or refused. */

import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CollectTraceRequestSchema } from '../../gen/spandrel/v1/traces_pb.js';
import { asMessage, llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, isFullTier, report } from '../support/scenario.ts';
import { PROJECT_KEY, type SpawnedServer, spawnServer } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const RUNS = isFullTier ? 100_000 : 500;
const WIDTH = 32;
const SAMPLED_AT_ONCE = 500;

let database: TestDatabase;
let server: SpawnedServer;
beforeAll(async () => {
  database = await createTestDatabase();
  server = await spawnServer(database.environment);
});
afterAll(async () => {
  await server.stop('SIGKILL');
  await database.remove();
});

const whole = llmTrace(Date.now());
const PROTOBUF = '/spandrel.v1.TraceService/CollectTrace';
const BODIES = {
  '/api/collector': Buffer.from(JSON.stringify(whole)),
  '/api/traces/search': Buffer.from('{"filters":{"metadata.user_id":["u"]},"query":"hi","pageSize":5}'),
  '/api/otel/v1/traces': Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","name":"n"}]}]}]}'),
  [PROTOBUF]: Buffer.from(toBinary(CollectTraceRequestSchema, create(CollectTraceRequestSchema, asMessage(whole)))),
};
const PATHS = Object.keys(BODIES) as (keyof typeof BODIES)[];

const change = fc.record({ at: fc.nat(), cut: fc.nat(12), bytes: fc.uint8Array({ maxLength: 12 }) });
/** Header characters that every client accepts. */
const headerText = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const headers = fc.dictionary(
  fc.constantFrom(
    'traceparent',
    'x-request-id',
    'x-project-id',
    'authorization',
    'accept-language',
    'idempotency-key',
    'x-auth-tokens',
  ),
  headerText,
  { maxKeys: 3 },
);
const request = fc.oneof(
  fc.record({ path: fc.constantFrom(...PATHS), changes: fc.array(change, { maxLength: 4 }), headers }),
  fc.record({ path: fc.constantFrom(...PATHS), body: fc.json({ maxDepth: 6 }), headers }),
);
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

function bodyOf(request: Request): Buffer {
  if ('body' in request) return Buffer.from(request.body);
  let body: Buffer = BODIES[request.path];
  for (const { at, cut, bytes } of request.changes) {
    const from = at % (body.length + 1);
    body = Buffer.concat([body.subarray(0, from), bytes, body.subarray(from + cut)]);
  }
  return body;
}

it(`X4: none of ${RUNS} fuzzed requests is an error of the server or ends it`, async () => {
  const seed = drawSeed();
  const seen = new Map<number, number>();
  const failed: string[] = [];
  for (let done = 0; done < RUNS; done += SAMPLED_AT_ONCE) {
    const sample = fc.sample(request, { numRuns: Math.min(SAMPLED_AT_ONCE, RUNS - done), seed: seed + done });
    await inParallel(sample, WIDTH, async (request) => {
      const type = request.path === PROTOBUF ? 'application/proto' : 'application/json';
      const answer = await fetch(server.address + request.path, {
        method: 'POST',
        headers: { 'content-type': type, ...request.headers, 'x-auth-token': PROJECT_KEY },
        body: new Uint8Array(bodyOf(request)),
      });
      const text = await answer.text();
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      if (answer.status >= 500 && answer.status !== 503) failed.push(`${request.path} ${answer.status} ${text}`);
    });
  }
  report({ id: 'X4', seed, n: RUNS, lost: failed.length, pass: failed.length === 0 });
  expect(failed).toEqual([]);
  expect(server.child.exitCode).toBeNull();
  expect(server.output()).not.toContain('uncaught');
  // Some requests must be readable, and some not.
  expect(seen.get(200)).toBeGreaterThan(0);
  expect(seen.get(400)).toBeGreaterThan(0);
});
