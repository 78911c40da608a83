/** Webhook receivers that keep connections open after their status, or never answer. */

import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { inParallel } from '../../support/scenario.ts';
import { ADMIN_KEY } from '../../support/server.ts';
import { callRest } from '../../support/surfaces.ts';
import { until } from '../../support/temp.ts';

const ENDPOINTS = 3;
const IN_FLIGHT_MAX = 8;
const EVENTS = 3_000;
const DRIP_EVERY_MS = 100;
/** A closed connection still looks open to the other end for a moment. */
const CLOSING = 2;

let target: Target;
beforeAll(async () => {
  target = await startTarget({ SPANDREL_WEBHOOK_ALLOW: '127.0.0.1' });
});
beforeEach(() => target.revive());
afterAll(() => target.close());

type Silent = { readonly port: number; open(): number; openMax(): number; attempts(): number; close(): void };

const silent: Silent[] = [];
afterEach(() => {
  for (const each of silent.splice(0)) each.close();
});

/** Answers every request with `verdict`, then sends a slow body without end. */
async function startSilent(verdict: string): Promise<Silent> {
  const sockets = new Set<Socket>();
  let openMax = 0;
  let attempts = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    openMax = Math.max(openMax, sockets.size);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.once('data', () => {
      attempts += 1;
      if (verdict !== '') socket.write(verdict);
    });
    socket.resume();
  });
  const drip = setInterval(() => {
    if (verdict !== '') for (const socket of sockets) socket.write('x');
  }, DRIP_EVERY_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the receiver has no port');
  const receiver = {
    port: bound.port,
    open: () => sockets.size,
    openMax: () => openMax,
    attempts: () => attempts,
    close() {
      clearInterval(drip);
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  silent.push(receiver);
  return receiver;
}

async function createEndpoints(port: number): Promise<string[]> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const ids: string[] = [];
  for (let index = 0; index < ENDPOINTS; index += 1) {
    const batch = { max_batch_size: 1, max_batch_delay_ms: 0, max_in_flight: IN_FLIGHT_MAX };
    const body = { url: `http://127.0.0.1:${port}/${index}`, enabled_events: ['*'], ...batch };
    const answer = await callRest(target.address, { verb: 'POST', path: '/api/webhooks/v1/endpoints', body, headers });
    expect(answer.status, answer.text).toBe(201);
    ids.push(answer.body.data.id);
  }
  return ids;
}

async function archive(ids: readonly string[]): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  for (const id of ids)
    await callRest(target.address, { verb: 'DELETE', path: `/api/webhooks/v1/endpoints/${id}`, headers });
}

it.each([
  ['F1', 'a 200 whose body drips for ever', 'HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n'],
  ['F2', 'a 200 whose chunks drip for ever', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n'],
  ['F3', 'a 200 that ends with its connection, which does not', 'HTTP/1.1 200 OK\r\n\r\n'],
  ['F4', 'no word at all', ''],
])('%s: receivers that answer %s hold no more sockets than attempts may be under way', (id, _, verdict) =>
  target.attack({ id, n: EVENTS }, async ({ serves }) => {
    const receiver = await startSilent(verdict);
    const ids = await createEndpoints(receiver.port);
    const headers = { 'x-auth-token': target.key };
    const traces = Array.from({ length: EVENTS }, () => llmTrace(Date.now(), hex(32)));
    await inParallel(traces, 8, async (body) => {
      const answer = await callRest(target.address, { verb: 'POST', path: '/api/collector', body, headers });
      expect(answer.status).toBe(200);
    });
    await serves(1_000);
    expect(receiver.attempts()).toBeGreaterThanOrEqual(ENDPOINTS);
    expect(receiver.openMax()).toBeLessThanOrEqual(ENDPOINTS * IN_FLIGHT_MAX * CLOSING);
    await archive(ids);
    // An attempt may take ten seconds.
    await until(() => receiver.open() === 0, 30_000);
  }),
);
