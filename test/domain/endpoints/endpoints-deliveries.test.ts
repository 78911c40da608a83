import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/domain/delivery/delivery.ts';
import { viewDelivery } from '../../../src/domain/delivery/delivery-view.ts';
import { faultOf, NOW_MS } from '../keys/keys-fixture.ts';
import { createEndpointsFixture, deliveryOf } from './endpoints-fixture.ts';

const DAY_MS = 86_400_000;

async function withDelivery(more: Partial<Delivery> = {}) {
  const fixture = await createEndpointsFixture();
  const { endpoint } = await fixture.create();
  const stored = fixture.stored(endpoint.id);
  const delivery = deliveryOf(stored, more);
  fixture.deliveries.push(delivery);
  const redeliver = async (dispatchId = delivery.dispatchId) =>
    fixture.endpoints.redeliver({ ...(await fixture.target(endpoint.id)), dispatchId });
  return { fixture, id: endpoint.id, stored, delivery, redeliver };
}

describe('a delivery', () => {
  it('shows until when it is kept after it has ended', async () => {
    const { fixture, id, delivery } = await withDelivery();
    const view = await fixture.endpoints.delivery(await fixture.target(id), delivery.dispatchId);
    expect(view).toMatchObject({
      delivery: { state: 'dead', deadReason: 'exhausted', attemptCount: 11, nextAttemptAtMs: null },
      attempts: [],
    });
    expect(view.delivery.expiresAtMs).toBe((delivery.endedAtMs ?? 0) + 30 * DAY_MS);
    fixture.advance(30 * DAY_MS - 1_001);
    await fixture.endpoints.delivery(await fixture.target(id), delivery.dispatchId);
    fixture.advance(1);
    const deleted = fixture.endpoints.delivery(await fixture.target(id), delivery.dispatchId);
    expect(await faultOf(deleted)).toMatchObject({ code: 'webhook_delivery_not_found' });
  });

  it.each(['queued', 'retrying'] as const)('that is %s is held while its endpoint is disabled', async (status) => {
    const { stored, delivery } = await withDelivery();
    const waiting = { ...delivery, status, endedAtMs: null, deadReason: null, dueAtMs: NOW_MS + 60_000 };
    expect(viewDelivery(waiting, stored, NOW_MS)).toMatchObject({
      state: status,
      nextAttemptAtMs: NOW_MS + 60_000,
      expiresAtMs: null,
    });
    const disabled = { ...stored, status: 'disabled' as const };
    expect(viewDelivery(waiting, disabled, NOW_MS)).toMatchObject({ state: 'held', nextAttemptAtMs: null });
    const enabled = { ...stored, run: stored.run + 1 };
    expect(viewDelivery(waiting, enabled, NOW_MS)).toMatchObject({ state: status, nextAttemptAtMs: NOW_MS });
  });

  it('that is being sent is so while its endpoint is disabled', async () => {
    const { stored, delivery } = await withDelivery();
    const sending = { ...delivery, status: 'sending' as const, endedAtMs: null, dueAtMs: NOW_MS + 30_000 };
    const view = viewDelivery(sending, { ...stored, status: 'disabled' }, NOW_MS);
    expect(view).toMatchObject({ state: 'sending', nextAttemptAtMs: null });
  });

  it('of another endpoint is not found', async () => {
    const { fixture, delivery } = await withDelivery();
    const other = await fixture.create();
    const request = fixture.endpoints.delivery(await fixture.target(other.endpoint.id), delivery.dispatchId);
    expect(await faultOf(request)).toMatchObject({ code: 'webhook_delivery_not_found' });
  });
});

describe('redelivering', () => {
  it.each(['dead', 'delivered'] as const)('what is %s makes it due at once, ladder afresh', async (status) => {
    const deadReason = status === 'dead' ? 'exhausted' : null;
    const { fixture, id, redeliver, delivery, stored } = await withDelivery({ status, deadReason });
    expect(await redeliver()).toMatchObject({
      dispatchId: delivery.dispatchId,
      state: 'retrying',
      deadReason: null,
      attemptCount: 11,
      nextAttemptAtMs: NOW_MS,
      endedAtMs: null,
      expiresAtMs: null,
    });
    expect(fixture.redeliveries).toEqual([{ endpointNumber: stored.number, number: 7, fence: 11, atMs: NOW_MS }]);
    expect(fixture.audit().at(-1)).toMatchObject({ action: 'webhookEndpoint.redeliver', targetId: id });
  });

  it('what waits for another attempt makes it due at once', async () => {
    const waiting = { status: 'retrying', endedAtMs: null, deadReason: null, dueAtMs: NOW_MS + DAY_MS } as const;
    const { redeliver } = await withDelivery(waiting);
    expect(await redeliver()).toMatchObject({ state: 'retrying', nextAttemptAtMs: NOW_MS });
  });

  it.each<readonly [string, Partial<Delivery>, string]>([
    ['what is queued', { status: 'queued', endedAtMs: null }, 'webhook_delivery_in_progress'],
    ['what is being sent', { status: 'sending', endedAtMs: null }, 'webhook_delivery_in_progress'],
    ['a test', { test: true }, 'webhook_delivery_not_redeliverable'],
    ['what lost its events', { eventsFromMs: Date.UTC(2022, 9, 1) - 1 }, 'webhook_delivery_not_redeliverable'],
    ['what was purged', { endedAtMs: NOW_MS - 30 * DAY_MS }, 'webhook_delivery_not_found'],
  ])('%s is refused', async (_, more, code) => {
    const { fixture, redeliver } = await withDelivery(more);
    expect(await faultOf(redeliver())).toMatchObject({ code });
    expect(fixture.redeliveries).toEqual([]);
  });

  it('what holds events of the oldest month that is kept is not refused', async () => {
    const { redeliver } = await withDelivery({ eventsFromMs: Date.UTC(2022, 9, 1) });
    expect(await redeliver()).toMatchObject({ state: 'retrying' });
  });

  it('to a disabled endpoint is refused for any delivery', async () => {
    for (const status of ['dead', 'queued', 'retrying', 'sending'] as const) {
      const { fixture, id, redeliver } = await withDelivery({ status });
      fixture.touch(id, { status: 'disabled' });
      expect(await faultOf(redeliver())).toMatchObject({ code: 'webhook_endpoint_disabled' });
    }
  });

  it('an unknown delivery is not found', async () => {
    const { redeliver } = await withDelivery();
    for (const id of ['unknown', 'test:unknown', 'x'.repeat(300), 'a\0b']) {
      expect(await faultOf(redeliver(id))).toMatchObject({ code: 'webhook_delivery_not_found' });
    }
  });
});

describe('pages', () => {
  it('of dead deliveries hold each once, the last to end first, without tests', async () => {
    const { fixture, id, stored } = await withDelivery({ test: true });
    for (let number = 1; number <= 5; number += 1) {
      const endedAtMs = NOW_MS - Math.floor(number / 2);
      fixture.deliveries.push(deliveryOf(stored, { number, dispatchId: `d${number}`, endedAtMs }));
    }
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await fixture.endpoints.deadLetters({ ...(await fixture.target(id)), cursor, limit: 2 });
      seen.push(...page.items.map(({ dispatchId }) => dispatchId));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['d1', 'd3', 'd2', 'd5', 'd4']);
  });

  it('begin only with a cursor of the very same list', async () => {
    const { fixture, id, stored } = await withDelivery();
    fixture.deliveries.push(deliveryOf(stored, { number: 8, dispatchId: 'other' }));
    const other = (await fixture.create()).endpoint.id;
    const { nextCursor } = await fixture.endpoints.deadLetters({ ...(await fixture.target(id)), cursor: '', limit: 1 });
    const cursor = nextCursor ?? '';
    expect(cursor).not.toBe('');
    const elsewhere = [
      fixture.endpoints.attempts({ ...(await fixture.target(id)), cursor, limit: 1 }),
      fixture.endpoints.deadLetters({ ...(await fixture.target(other)), cursor, limit: 1 }),
      fixture.endpoints.list(await fixture.call(), { cursor, limit: 1 }),
      fixture.endpoints.deadLetters({ ...(await fixture.target(id)), cursor: `${cursor}A`, limit: 1 }),
      fixture.endpoints.deadLetters({ ...(await fixture.target(id)), cursor: 'A'.repeat(1_025), limit: 1 }),
    ];
    for (const request of elsewhere) expect(await faultOf(request)).toMatchObject({ code: 'invalid_cursor' });
    await fixture.endpoints.deadLetters({ ...(await fixture.target(id)), cursor, limit: 200 });
  });

  it('of endpoints continue where the previous page ended, oldest first', async () => {
    const fixture = await createEndpointsFixture();
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      ids.push((await fixture.create()).endpoint.id);
      fixture.advance(made % 2);
    }
    const all = await fixture.endpoints.list(await fixture.call(), { cursor: '', limit: null });
    expect(all).toMatchObject({ nextCursor: undefined });
    const seen: string[] = [];
    let cursor: string | null | undefined = '';
    while (typeof cursor === 'string') {
      const page = await fixture.endpoints.list(await fixture.call(), { cursor, limit: 2 });
      seen.push(...page.endpoints.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(cursor).toBeNull();
    expect(seen).toEqual(all.endpoints.map(({ id }) => id));
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });
});
