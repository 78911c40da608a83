import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { llmTrace } from '../support/fixtures.ts';
import { report } from '../support/scenario.ts';
import { PROJECT_KEY, spawnServer } from '../support/server.ts';
import { createTestDatabase } from '../support/test-database.ts';

const BOMBS_AT_ONCE = 50;
const BUSY_FACTOR = 5;
const GROWTH_MAX_BYTES = 64 * 1024 * 1024;

it('X1, T9: fifty decompression bombs at once are refused quickly and take no memory', async () => {
  const zeros = Buffer.alloc(64 * 1024 * 1024);
  const bombs: readonly (readonly [encoding: string, bytes: Uint8Array<ArrayBuffer>])[] = [
    ['gzip', new Uint8Array(gzipSync(zeros))],
    ['br', new Uint8Array(brotliCompressSync(zeros, { params: { 1: 5 } }))],
    ['deflate', new Uint8Array(deflateSync(zeros))],
  ];
  const database = await createTestDatabase();
  const server = await spawnServer(database.environment);
  const post = (path: string, body: Uint8Array<ArrayBuffer>, headers: object) =>
    fetch(server.address + path, { method: 'POST', headers: { 'x-auth-token': PROJECT_KEY, ...headers }, body });
  /** Milliseconds of the slowest of as many concurrent requests as there will be bombs. */
  const slowestOf = async (ask: () => Promise<void>) => {
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: BOMBS_AT_ONCE }, ask));
    return performance.now() - startedMs;
  };
  const alive = async () => {
    const body = new TextEncoder().encode(JSON.stringify(llmTrace(Date.now())));
    expect((await post('/api/collector', body, { 'content-type': 'application/json' })).status).toBe(200);
  };
  try {
    for (let index = 0; index < 50; index++) await alive();
    const plainMs = await slowestOf(() => alive());
    const before = server.residentBytes();
    let peak = before;
    const sampler = setInterval(() => {
      peak = Math.max(peak, server.residentBytes());
    }, 5);
    const times: number[] = [];
    const statuses = new Map<number, number>();
    await Promise.all(
      Array.from({ length: BOMBS_AT_ONCE }, async (_, index) => {
        const [encoding, bytes] = bombs[index % bombs.length] as (typeof bombs)[number];
        const startedMs = performance.now();
        const answer = await post('/api/collector', bytes, {
          'content-type': 'application/json',
          'content-encoding': encoding,
        });
        times.push(performance.now() - startedMs);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1');
      }),
    );
    // Over Connect a library reads the body; it answers 429 for a body that is too large.
    const [, gzipBomb] = bombs[0] as (typeof bombs)[number];
    const overConnect = await post('/spandrel.v1.TraceService/CollectTrace', gzipBomb, {
      'content-type': 'application/proto',
      'content-encoding': 'gzip',
    });
    expect(overConnect.status).toBe(429);
    clearInterval(sampler);
    await alive();
    const slowest = Math.max(...times);
    const others = [...statuses.keys()].filter((status) => status !== 413 && status !== 503);
    const pass = others.length === 0 && peak - before <= GROWTH_MAX_BYTES;
    report({
      id: 'X1',
      seed: 0,
      n: BOMBS_AT_ONCE,
      p99: Math.round(slowest),
      rss: Math.round((peak - before) / 1e6),
      pass,
    });
    expect(others).toEqual([]);
    expect(statuses.get(413)).toBeGreaterThan(BOMBS_AT_ONCE / 3);
    expect(peak - before).toBeLessThanOrEqual(GROWTH_MAX_BYTES);
    // Refusing a bomb takes about as long as storing a trace under the same load.
    expect(slowest).toBeLessThan(Math.max(500, BUSY_FACTOR * plainMs));
  } finally {
    await server.stop('SIGKILL');
    await database.remove();
  }
});
