import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/domain/fault.ts';
import { createIdempotency } from '../../../src/domain/management/idempotency.ts';
import type { ClaimInstants, Receipt, ReceiptName } from '../../../src/domain/management/management.ts';

const NAME: ReceiptName = {
  organizationId: 'organization_1',
  keyId: 'key1',
  operation: '/S/Create',
  value: 'value-01',
};
const REQUEST = Buffer.from('the request');
const NOW_MS = 1_800_000_000_000;

type Claimed = { readonly name: ReceiptName; readonly fingerprint: Buffer; readonly at: ClaimInstants };

function setup(outcome: 'claimed' | 'running' | Receipt, failRelease = false) {
  const claims: Claimed[] = [];
  const released: ReceiptName[] = [];
  const errors: unknown[] = [];
  const idempotency = createIdempotency({
    store: {
      claim: async (name, fingerprint, at) => {
        claims.push({ name, fingerprint, at });
        return outcome;
      },
      release: async (name) => {
        if (failRelease) throw new Error('the store is away');
        released.push(name);
      },
    },
    encryptionKeys: [Buffer.alloc(32, 7)],
    random: randomBytes,
    retentionNowMs: () => NOW_MS,
    onReleaseError: (error) => errors.push(error),
  });
  const begin = (request: Uint8Array = REQUEST, name = NAME) => idempotency.begin({ name, request, nowMs: NOW_MS });
  return { begin, claims, released, errors };
}

async function receiptFor(answer: string, name = NAME): Promise<Receipt> {
  const begun = await setup('claimed').begin(REQUEST, name);
  if (begun.kind !== 'claimed') throw new Error('not claimed');
  return begun.receipt(Buffer.from(answer));
}

async function refusalOf(begun: Promise<unknown>): Promise<Fault> {
  return begun.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: Fault) => error,
  );
}

describe('an idempotency key', () => {
  it('is claimed for 20 seconds, and its answer counts for 24 hours', async () => {
    const { begin, claims } = setup('claimed');
    expect((await begin()).kind).toBe('claimed');
    expect(claims[0]).toMatchObject({
      name: { ...NAME, value: expect.any(String) },
      at: { nowMs: NOW_MS, staleBeforeMs: NOW_MS - 20_000, expiredBeforeMs: NOW_MS - 86_400_000 },
    });
  });

  it('brings back the bytes of the first answer', async () => {
    const receipt = await receiptFor('the answer');
    const begun = await setup(receipt).begin();
    expect(begun).toMatchObject({ kind: 'replay', answer: Buffer.from('the answer') });
  });

  it('keeps the answer sealed, so that no token in it can be read where it is stored', async () => {
    const receipt = await receiptFor('sk-lw-secret');
    expect(receipt.answer.includes('sk-lw-secret')).toBe(false);
    const again = await receiptFor('sk-lw-secret');
    expect(again.answer.equals(receipt.answer)).toBe(false);
    expect(again.fingerprint.equals(receipt.fingerprint)).toBe(true);
  });

  it('opens no answer that was moved to another key, operation or request', async () => {
    const receipt = await receiptFor('the answer');
    for (const change of [{ keyId: 'key2' }, { organizationId: 'organization_2' }, { value: 'value-02' }]) {
      const moved = { ...receipt, name: { ...receipt.name, ...change } };
      await expect(setup(moved).begin(REQUEST, { ...NAME, ...change })).rejects.toThrow('belongs to another request');
    }
  });

  it('is kept as a digest, for it may be a token that was sent by mistake', async () => {
    const token = `sk-lw-${'A'.repeat(48)}`;
    const fixture = setup('claimed');
    await fixture.begin(REQUEST, { ...NAME, value: token });
    await fixture.begin(REQUEST, { ...NAME, value: token });
    const [first, second] = fixture.claims.map(({ name }) => name.value);
    expect(first).toBe(second);
    expect(first).not.toContain('AAAA');
  });

  it('refuses another request', async () => {
    const receipt = await receiptFor('the answer');
    const fault = await refusalOf(setup(receipt).begin(Buffer.from('another request')));
    expect(fault).toMatchObject({ code: 'idempotency_error', kind: 'conflict', meta: { reason: 'body_mismatch' } });
    expect(fault.headers['retry-after']).toBeUndefined();
  });

  it('tells a repeat to retry after a second while the first request is running', async () => {
    const fault = await refusalOf(setup('running').begin());
    expect(fault).toMatchObject({
      code: 'idempotency_error',
      meta: { reason: 'in_progress' },
      headers: { 'retry-after': '1' },
    });
  });

  it('distinguishes operations with the same bytes', async () => {
    const other = await receiptFor('the answer', { ...NAME, operation: '/S/Rotate' });
    expect(other.fingerprint.equals((await receiptFor('the answer')).fingerprint)).toBe(false);
  });

  it('is released when nothing was changed, and a failed release fails no request', async () => {
    const good = setup('claimed');
    const begun = await good.begin();
    if (begun.kind === 'claimed') await begun.release();
    expect(good.released).toEqual([good.claims[0]?.name]);
    const bad = setup('claimed', true);
    const stuck = await bad.begin();
    if (stuck.kind === 'claimed') await stuck.release();
    expect(bad.errors).toHaveLength(1);
  });
});
