import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { findFreePort } from '../support/port.ts';
import { callRest } from '../support/surfaces.ts';
import { until } from '../support/temp.ts';
import { setVariables, startCollector } from './collector.ts';

const KEY = `sk-lw-${'o'.repeat(48)}`;
const TRACE = '0af7651916cd43dd8448eb211c80319c';

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A server that sends its spans to the address. */
async function start(port: number, endpoint: string, variables: { readonly [name: string]: string }): Promise<TestApp> {
  const ofSdk = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `x-auth-token=${KEY}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    ...variables,
  };
  const restore = setVariables(ofSdk);
  const settings = { SPANDREL_OTEL: 'on', SPANDREL_PORT: String(port), SPANDREL_BOOTSTRAP_PROJECT_KEY: KEY };
  const app = await startApp({ environment: { ...ofSdk, ...settings } });
  restore();
  cleanUps.push(() => app.close());
  return app;
}

type Counts = { readonly recorded: number; readonly exported: number; readonly failed: number };

/** The spans of a server by what became of them; to ask it makes none. */
async function count(app: TestApp): Promise<Counts> {
  const text = await (await fetch(`${app.address}/metrics`)).text();
  const found = text.matchAll(/^spandrel_otel_spans_total\{result="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, result, value]) => [result, Number(value)])) as Counts;
}

async function ask(app: TestApp, traceId: string): Promise<void> {
  const headers = { 'x-auth-token': KEY, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  await callRest(app.address, { path: '/api/traces/absent', headers });
}

describe('a server that exports to itself', () => {
  it.each(['http/protobuf', 'http/json', 'grpc'])(
    'over %s keeps its spans, and makes none of keeping them',
    async (way) => {
      const port = await findFreePort();
      const app = await start(port, `http://127.0.0.1:${port}`, { OTEL_EXPORTER_OTLP_PROTOCOL: way });
      await ask(app, TRACE);
      await until(async () => (await count(app)).exported === 1);
      // A span of that export would have been sent with the next one.
      await ask(app, 'b'.repeat(32));
      await until(async () => (await count(app)).exported === 2);
      await ask(app, 'c'.repeat(32));
      await until(async () => (await count(app)).exported === 3);
      expect(await count(app)).toEqual({ recorded: 3, exported: 3, failed: 0 });
      const kept = await callRest(app.address, { path: `/api/traces/${TRACE}`, headers: { 'x-auth-token': KEY } });
      expect(kept.body.spans).toMatchObject([{ name: 'GET /api/traces/{trace_id}' }]);
    },
  );
});

it('a server whose spans come back through a collector makes none of keeping them', async () => {
  const port = await findFreePort();
  let passedOn = 0;
  // A collector sends with headers of its own.
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const headers = { 'content-type': 'application/x-protobuf', 'x-auth-token': KEY };
      const sent = { method: 'POST', headers, body: Buffer.concat(chunks) };
      // Null: the server has stopped meanwhile.
      const answer = await fetch(`http://127.0.0.1:${port}/v1/traces`, sent).catch(() => null);
      if (answer?.ok) passedOn += 1;
      response.writeHead(answer?.status ?? 503).end();
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  cleanUps.push(
    () => void collector.close(),
    () => collector.closeAllConnections(),
  );
  const app = await start(port, `http://127.0.0.1:${(collector.address() as AddressInfo).port}`, {});
  for (const [index, digit] of ['a', 'b', 'c'].entries()) {
    await ask(app, digit.repeat(32));
    await until(async () => (await count(app)).exported === index + 1);
  }
  expect(passedOn).toBe(3);
  expect(await count(app)).toEqual({ recorded: 3, exported: 3, failed: 0 });
});

it('two servers of one installation that export to each other make no spans of it', async () => {
  const [one, other] = [await findFreePort(), await findFreePort()];
  const apps = [
    await start(one, `http://127.0.0.1:${other}`, {}),
    await start(other, `http://127.0.0.1:${one}`, {}),
  ] as const;
  for (const [index, digit] of ['a', 'b', 'c'].entries()) {
    await ask(apps[0], digit.repeat(32));
    await until(async () => (await count(apps[0])).exported === index + 1);
  }
  expect(await count(apps[0])).toEqual({ recorded: 3, exported: 3, failed: 0 });
  expect(await count(apps[1])).toEqual({ recorded: 0, exported: 0, failed: 0 });
});

const LIMITS = { OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5' };
const REQUESTS = 60;

async function askOften(app: TestApp): Promise<void> {
  const request = { path: '/api/traces/absent', headers: { 'x-auth-token': KEY } };
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => callRest(app.address, request)));
  expect(answers.filter(({ status }) => status !== 404)).toEqual([]);
}

it('a collector that is away costs spans and one line of the log, never a request', async () => {
  const closed = await findFreePort();
  const app = await start(0, `http://127.0.0.1:${closed}`, { ...LIMITS, OTEL_EXPORTER_OTLP_TIMEOUT: '200' });
  await askOften(app);
  await until(async () => (await count(app)).failed >= 10);
  expect(await count(app)).toMatchObject({ recorded: REQUESTS, exported: 0 });
  expect(app.logged.filter((line) => line.startsWith('spans of the server cannot be exported'))).toHaveLength(1);
});

it('spans that wait for a slow collector have a queue with a bound', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const collector = await startCollector(released);
  cleanUps.push(() => collector.close());
  const app = await start(0, collector.endpoint, { ...LIMITS, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
  await askOften(app);
  await until(() => collector.spans.length > 0);
  expect(await count(app)).toEqual({ recorded: REQUESTS, exported: 0, failed: 0 });
  release();
  await app.stop();
  expect(collector.spans.length).toBeLessThanOrEqual(15);
  expect(collector.spans.length).toBeGreaterThan(5);
});
