import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { telemetryPortConformance } from '../storage/conformance/store.ts';
import { keepUp } from '../storage/conformance/subject.ts';
import { until } from '../support/temp.ts';
import { appendSome, indexConformance } from './index-conformance.ts';
import { openPostgres } from './subjects.ts';

describe('PostgreSQL with ClickHouse', () => {
  indexConformance(openPostgres);
  telemetryPortConformance(openPostgres);

  it('has no transaction open while ClickHouse takes its time', async () => {
    const subject = await openPostgres();
    await subject.store.close();
    const slow = await startSlowProxy(subject.telemetry.url, 400);
    const store = await subject.reopen(slow.url);
    await appendSome(store, 5);
    let isDone = false;
    const step = keepUp(store).then(() => {
      isDone = true;
    });
    const holders = () =>
      subject.read(`SELECT state FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND objid = ${0x5350_4958} AND datname = current_database()`);
    await until(async () => (await holders()).length > 0);
    // Between two answers of ClickHouse.
    await delay(100);
    expect([isDone, await holders()]).toEqual([false, [{ state: 'idle' }]]);
    await step;
    expect(await holders()).toEqual([]);
    await store.close();
    slow.close();
    await subject.dispose();
  });
});

/** Passes requests on after a while. */
async function startSlowProxy(url: string, waitMs: number) {
  const target = new URL(url.replace(/^clickhouse/, 'http'));
  const server = createServer(async (incoming, answer) => {
    await delay(waitMs);
    const { method, headers, url: path } = incoming;
    const passed = request({ host: target.hostname, port: target.port, method, headers, path }, (found) => {
      answer.writeHead(found.statusCode ?? 500, found.headers);
      found.pipe(answer);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `clickhouse://127.0.0.1:${port}${target.pathname}`,
    close: () => void server.close(() => undefined).closeAllConnections(),
  };
}
