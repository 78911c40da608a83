import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectFlawless, lagsOf, quantile } from '../support/delivery-audit.ts';
import { type Reaction, TAKEN } from '../support/receiver.ts';
import { report } from '../support/scenario.ts';
import { until } from '../support/temp.ts';
import { startWebhookFixture, type WebhookFixture } from '../support/webhook-fixture.ts';

const IN_FLIGHT_MAX = 8;
const LOAD_MS = 20_000;
const LAG_MAX_MS = 2_000;
/** A receiver may notice the end of a connection only after the next one has opened. */
const SEEN_LATE_FACTOR = 2;

/** Receivers that have answered and keep the connection busy. */
const SILENT: { readonly [path: string]: (response: ServerResponse) => void } = {
  '/long': (response) => void response.writeHead(200).write('a'.repeat(5_000)),
  '/endless': (response) => {
    response.writeHead(200).flushHeaders();
    const dripping = setInterval(() => response.write('a'), 50).unref();
    response.once('close', () => clearInterval(dripping));
  },
  '/refusing': (response) => void response.writeHead(500).write('a'.repeat(5_000)),
};

/** Tracks the highest number of open connections by path. */
function watchConnections() {
  const open = new Map<string, Set<Socket>>();
  const peaks = new Map<string, number>();
  return {
    peakOf: (path: string) => peaks.get(path) ?? 0,
    watch(path: string, { socket }: ServerResponse): void {
      const sockets = open.get(path) ?? new Set();
      open.set(path, sockets);
      if (socket === null || sockets.has(socket)) return;
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      peaks.set(path, Math.max(peaks.get(path) ?? 0, sockets.size));
    },
  };
}

async function socketsOf({ app }: WebhookFixture): Promise<{ readonly inUse: number; readonly idle: number }> {
  const text = await (await fetch(`${app.address}/metrics`)).text();
  const read = (state: string) =>
    Number(new RegExp(`^spandrel_webhook_sockets\\{kind="http",state="${state}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  return { inUse: read('in_use'), idle: read('idle') };
}

it('receivers that decide and do not let go hold no more sockets than they have slots', async () => {
  const fixture = await startWebhookFixture({ writer: 'in its thread' });
  const connections = watchConnections();
  fixture.receiver.react = ({ path }): Reaction => {
    const hold = SILENT[path];
    if (hold === undefined) return TAKEN;
    return {
      kind: 'other',
      serve(response) {
        connections.watch(path, response);
        hold(response);
      },
    };
  };
  try {
    const options = { max_batch_size: 1, max_batch_delay_ms: 0, max_in_flight: IN_FLIGHT_MAX };
    const silent = await Promise.all(
      Object.keys(SILENT).map((path) => fixture.create(fixture.receiver.url(path), options)),
    );
    const healthy = await fixture.create(fixture.receiver.url('/healthy'), { max_batch_delay_ms: 0 });
    const ids: string[] = [];
    const inUse: number[] = [];
    for (const endMs = performance.now() + LOAD_MS; performance.now() < endMs; await delay(10)) {
      ids.push(...(await fixture.report(10)));
      inUse.push((await socketsOf(fixture)).inUse);
    }
    await fixture.untilIdle(healthy.id);
    await Promise.all(silent.map(({ id }) => fixture.archive(id)));
    await until(async () => {
      const sockets = await socketsOf(fixture);
      return sockets.inUse === 0 && sockets.idle === 0;
    });
    const p99 = quantile(lagsOf(fixture.receiver.of('/healthy')), 0.99);
    const peak = Math.max(...inUse);
    const peaks = Object.keys(SILENT).map(connections.peakOf);
    report({ id: 'silent receivers', seed: 0, n: ids.length, lost: 0, p99, ...{ peak, peaks }, pass: true });
    expect(peak).toBeLessThanOrEqual(IN_FLIGHT_MAX * (silent.length + 1));
    for (const each of peaks) expect(each).toBeLessThanOrEqual(IN_FLIGHT_MAX * SEEN_LATE_FACTOR);
    expect(fixture.receiver.of('/long').length).toBeGreaterThan(IN_FLIGHT_MAX);
    expectFlawless({ pushes: fixture.receiver.of('/healthy'), subscribed: ids, secrets: [healthy.secret] });
    expect(p99).toBeLessThan(LAG_MAX_MS);
  } finally {
    await fixture.close();
  }
});
