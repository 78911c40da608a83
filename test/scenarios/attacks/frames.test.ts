/** HTTP/2 frames that cost the server far more than the sender. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openHostile } from '../../support/attack-clients.ts';
import { headerBomb, PREFACE, resetRequest } from '../../support/attack-frames.ts';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { until } from '../../support/temp.ts';

const BOMBERS = 200;
const BOMBS = 50;
const RECONNECTS = 4_000;
const RECONNECTING_AT_ONCE = 16;
const RESETS = 200;
const SERVED_MEANWHILE = 1_000;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

const streamIds = (count: number) => Array.from({ length: count }, (_, index) => 2 * index + 1);

it('H1: a client whose header lists expand to megabytes is cut off', () =>
  target.attack({ id: 'H1', n: BOMBERS * BOMBS }, async (attack) => {
    const bombs = Buffer.concat([PREFACE, ...streamIds(BOMBS).map(headerBomb)]);
    const bombers = Array.from({ length: BOMBERS }, () => openHostile(target, attack, bombs));
    await attack.serves(SERVED_MEANWHILE);
    await until(() => bombers.every(({ isCut }) => isCut()), 20_000);
  }));

it('H2: a client that resets its requests and reconnects after a cut delays no other client', () =>
  target.attack({ id: 'H2', n: RECONNECTS * RESETS }, async (attack) => {
    const headers = { ':path': '/api/traces/none', 'x-auth-token': target.key };
    const resets = Buffer.concat([PREFACE, ...streamIds(RESETS).map((stream) => resetRequest(stream, headers))]);
    let opened = 0;
    const reconnect = () => {
      if (opened >= RECONNECTS) return;
      opened += 1;
      const { socket } = openHostile(target, attack, resets);
      // The first bytes from the server show that it processed the resets. A client that was not cut reconnects anyway.
      socket.once('data', () => socket.destroy());
      socket.once('close', reconnect);
    };
    for (let index = 0; index < RECONNECTING_AT_ONCE; index += 1) reconnect();
    await attack.serves(SERVED_MEANWHILE);
    expect(opened).toBeGreaterThan(RECONNECTING_AT_ONCE);
  }));
