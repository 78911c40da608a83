/** Request bodies that never end: they occupy no more than a share of slots and memory. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { grpcFrame, type Hostile, openHostile, openStreams, requestHead } from '../../support/attack-clients.ts';
import { ATTACKER_HOST, type Attack, startTarget, type Target } from '../../support/attack-target.ts';
import { until } from '../../support/temp.ts';

/** The quick tier sends half as many again as SHARE_MAX lets in. */
const DRIPPING = 1_030;
const DRIP_EVERY_MS = 1_000;
const WAVE = 50;
const WAVE_ANSWERS = 4;
/** A credential or an address gets at most a quarter of the arriving requests, 1,024 by default. */
const SHARE_MAX = 256;
const WHOLE_BYTES = 10 * 1024 * 1024;
const WHOLE_BODIES = 150;
const SERVED_MEANWHILE = 1_000;
const RPC = '/spandrel.v1.TraceService/CollectTrace';
const HOSTS = [ATTACKER_HOST, '127.0.0.3', '127.0.0.4', '127.0.0.5'];

let target: Target;
let keys: readonly string[];
beforeAll(async () => {
  target = await startTarget();
  keys = [target.key, await target.addKey(), await target.addKey(), await target.addKey()];
});
beforeEach(() => target.revive());
afterAll(() => target.close());

/** Sends bodies that announce a large size and arrive byte by byte, in waves: their number counts, not their speed. */
async function drip(
  attack: Attack,
  of: (index: number) => { readonly key: string; readonly from: string },
): Promise<Hostile[]> {
  const dripping: Hostile[] = [];
  const timer = setInterval(() => {
    for (const { socket } of dripping) if (socket.writable) socket.write(' ');
  }, DRIP_EVERY_MS);
  attack.closeLater(() => clearInterval(timer));
  while (dripping.length < DRIPPING) {
    const { key, from } = of(dripping.length);
    const headers = { 'x-auth-token': key, 'content-type': 'application/json', 'content-length': '999999' };
    dripping.push(openHostile(target, attack, `${requestHead(target, 'POST /api/collector', headers)}{`, { from }));
    if (dripping.length % WAVE === 0) await attack.serves(WAVE_ANSWERS);
  }
  return dripping;
}

/** Expects one share of them to continue, and all others to be refused as overload. */
async function expectOneShare(attack: Attack, dripping: readonly Hostile[]): Promise<void> {
  const going = () => dripping.filter(({ text, isCut }) => text() === '' && !isCut());
  await until(() => going().length <= SHARE_MAX, 20_000);
  await attack.serves(SERVED_MEANWHILE);
  expect(going().length).toBeGreaterThan(0);
  const answers = dripping.filter((each) => !going().includes(each)).map(({ text }) => text());
  expect(answers.filter((text) => text !== '' && !/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 1\r\n/i.test(text))).toEqual(
    [],
  );
}

it('C1: slow bodies of one key at one address leave slots for others', () =>
  target.attack({ id: 'C1', n: DRIPPING }, async (attack) => {
    await expectOneShare(attack, await drip(attack, () => ({ key: target.key, from: ATTACKER_HOST })));
  }));

it('C2: one key that comes from several addresses has the share of one key', () =>
  target.attack({ id: 'C2', n: DRIPPING }, async (attack) => {
    const from = (index: number) => HOSTS[index % HOSTS.length] ?? ATTACKER_HOST;
    await expectOneShare(attack, await drip(attack, (index) => ({ key: target.key, from: from(index) })));
  }));

it('C3: several keys that come from one address have the share of one address', () =>
  target.attack({ id: 'C3', n: DRIPPING }, async (attack) => {
    const key = (index: number) => keys[index % keys.length] ?? target.key;
    await expectOneShare(attack, await drip(attack, (index) => ({ key: key(index), from: ATTACKER_HOST })));
  }));

it.each([
  ['C4', 'gRPC', { 'content-type': 'application/grpc', te: 'trailers' }, grpcFrame(Buffer.alloc(1), 999_999)],
  ['C5', 'Connect', { 'content-type': 'application/proto' }, Buffer.alloc(1)],
])('%s: slow bodies over %s leave slots for others', (id, _, headers, body) =>
  target.attack({ id, n: DRIPPING }, async (attack) => {
    const wish = { sessions: 10, streams: DRIPPING / 10, ends: false, windowBytes: 65_535 };
    const streams = openStreams(target, attack, {
      ...wish,
      headers: { ':method': 'POST', ':path': RPC, ...headers },
      body,
    });
    const timer = setInterval(() => {
      for (const stream of streams.streams) if (stream.writable) stream.write('\0');
    }, DRIP_EVERY_MS);
    attack.closeLater(() => clearInterval(timer));
    await until(() => streams.statuses.length >= DRIPPING - SHARE_MAX, 20_000);
    await attack.serves(SERVED_MEANWHILE);
    expect([...new Set(streams.statuses)]).toEqual([503]);
  }),
);

/** An admitted body without an end is cut after ten seconds. */
const REFUSED_OR_LATE = [503, 408];

const statusIn = (text: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);

const WHOLE = Buffer.alloc(WHOLE_BYTES, ' ');
WHOLE[0] = '{'.charCodeAt(0);

it.each([
  ['D1', 'announced'],
  ['D2', 'unannounced'],
])('%s: %s bodies of 10 MiB, all but their ends, share one bound', (id, length) =>
  target.attack({ id, n: WHOLE_BODIES }, async (attack) => {
    const announced = length === 'announced';
    const typed = { 'content-type': 'application/json' };
    const framed = announced ? { 'content-length': String(WHOLE_BYTES) } : { 'transfer-encoding': 'chunked' };
    const head = requestHead(target, 'POST /api/collector', { ...typed, ...framed });
    const sent = Array.from({ length: WHOLE_BODIES }, () => openHostile(target, attack, head));
    for (const { socket } of sent) {
      if (!announced) socket.write(`${WHOLE_BYTES.toString(16)}\r\n`);
      socket.write(WHOLE.subarray(0, -1));
    }
    await attack.serves(SERVED_MEANWHILE);
    await until(() => sent.some(({ text }) => /^HTTP\/1\.1 503 /.test(text())), 20_000);
    const answers = sent.map(({ text }) => text()).filter((text) => text !== '');
    expect(answers.filter((text) => !REFUSED_OR_LATE.includes(statusIn(text)))).toEqual([]);
  }),
);

it.each([
  [
    'D3',
    'gRPC',
    { 'content-type': 'application/grpc', te: 'trailers' },
    grpcFrame(WHOLE.subarray(0, -16), WHOLE_BYTES),
  ],
  ['D4', 'Connect', { 'content-type': 'application/proto' }, WHOLE.subarray(0, -16)],
])('%s: bodies of 10 MiB over %s, all but their ends, share one bound', (id, _, headers, body) =>
  target.attack({ id, n: WHOLE_BODIES }, async (attack) => {
    const streams = openStreams(target, attack, {
      sessions: WHOLE_BODIES / 10,
      streams: 10,
      ends: false,
      windowBytes: 65_535,
      headers: { ':method': 'POST', ':path': RPC, ...headers },
      body,
    });
    await attack.serves(SERVED_MEANWHILE);
    await until(() => streams.statuses.includes(503), 20_000);
    expect(streams.statuses.filter((status) => !REFUSED_OR_LATE.includes(status))).toEqual([]);
  }),
);
