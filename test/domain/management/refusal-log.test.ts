import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Actor } from '../../../src/domain/management/audit.ts';
import type { AuditRecord } from '../../../src/domain/management/management.ts';
import { createRefusals, type RefusedAction } from '../../../src/domain/management/refusal-log.ts';
import { createManualPause } from '../../support/manual-pause.ts';

const actor = (actorKeyId: string): Actor => ({
  organizationId: 'organization_1',
  actorKind: 'personal_key',
  actorUserId: 'user_1',
  actorKeyId,
  ip: '192.0.2.1',
  userAgent: 'u'.repeat(300),
  requestId: 'req_1',
  traceId: null,
});

const action = (targetId: string | null, code = 'api_key_not_found'): RefusedAction => ({
  action: 'apiKey.read',
  targetId,
  status: 404,
  code,
});

function setup(failing = false) {
  const timer = createManualPause();
  const written: AuditRecord[] = [];
  const errors: unknown[] = [];
  const refusals = createRefusals({
    store: {
      recordRefusal: async (record) => {
        if (failing) throw new Error('the store is away');
        written.push(record);
      },
    },
    clock: () => 1_000,
    random: randomBytes,
    pause: timer.pause,
    onError: (error) => errors.push(error),
  });
  return { refusals, timer, written, errors };
}

describe('a refusal', () => {
  it('becomes an entry of the audit log, after its request was answered', async () => {
    const { refusals, timer, written } = setup();
    refusals.record(actor('key1'), action('key2'));
    expect(written).toEqual([]);
    await timer.pass();
    expect(written).toEqual([
      {
        ...actor('key1'),
        ...action('key2'),
        targetType: 'apiKey',
        userAgent: 'u'.repeat(256),
        id: expect.stringMatching(/^audit_[0-9A-Za-z]{21}$/),
        createdAtMs: 1_000,
        outcome: 'refused',
        fields: [],
        count: 1,
      },
    ]);
  });

  it('that is repeated is counted up, and others wait their second', async () => {
    const { refusals, timer, written } = setup();
    for (let time = 0; time < 5; time += 1) refusals.record(actor('key1'), action('key2'));
    refusals.record(actor('key1'), action('key3'));
    await timer.pass();
    expect(written.map(({ targetId, count }) => [targetId, count])).toEqual([['key2', 5]]);
    expect(timer.waiting()).toEqual([1_000]);
    refusals.record(actor('key1'), action('key3'));
    await timer.pass();
    expect(written.map(({ targetId, count }) => [targetId, count])).toEqual([
      ['key2', 5],
      ['key3', 2],
    ]);
  });

  it('right after another one of the same key waits until the second is over', async () => {
    const { refusals, timer, written } = setup();
    refusals.record(actor('key1'), action('key2'));
    await timer.pass();
    refusals.record(actor('key1'), action('key3'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toHaveLength(1);
    await timer.pass();
    expect(written).toHaveLength(2);
    await timer.pass();
    expect(timer.waiting()).toEqual([]);
  });

  it('of one key waits for no other key', async () => {
    const { refusals, timer, written } = setup();
    refusals.record(actor('key1'), action('key3'));
    refusals.record(actor('key2'), action('key3'));
    await timer.pass();
    expect(written.map((record) => record.actorKeyId)).toEqual(['key1', 'key2']);
  });

  it('of a caller who tries many ids take a limited room, and none is lost', async () => {
    const { refusals, timer, written } = setup();
    for (let index = 0; index < 1_000; index += 1) refusals.record(actor('key1'), action(`key${index}`));
    await timer.pass();
    await refusals.stop();
    expect(written.length).toBeLessThanOrEqual(51);
    expect(written.reduce((total, { count }) => total + count, 0)).toBe(1_000);
    expect(written.at(-1)).toMatchObject({ targetId: null, count: 950 });
  });

  it('is stored before the stop, which an unavailable store does not delay', async () => {
    const good = setup();
    good.refusals.record(actor('key1'), action('key2'));
    good.refusals.record(actor('key1'), action('key3'));
    await good.refusals.stop();
    expect(good.written).toHaveLength(2);
    const bad = setup(true);
    bad.refusals.record(actor('key1'), action('key2'));
    await bad.refusals.stop();
    expect(bad.errors).toHaveLength(1);
  });
});
