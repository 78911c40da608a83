import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Receipt, ReceiptName } from '../../../src/domain/management/management.ts';
import type { Management } from '../../../src/domain/management/management-port.ts';
import { AT_MS, change, found, sampleAudit, sampleTeam } from './management-samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const STALE_AFTER_MS = 20_000;
const EXPIRED_AFTER_MS = 86_400_000;

export function receiptConformance(open: OpenManagement): void {
  describe('an idempotency key', () => {
    it(
      'is claimed by one of many who ask at once, and running for the others',
      withStore(open, async (store) => {
        const { name, claim } = await begin(store);
        const outcomes = await Promise.all(Array.from({ length: 10 }, () => claim(AT_MS)));
        expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'running')).toHaveLength(9);
        for (const field of ['keyId', 'operation', 'value'] as const) {
          const other = { ...name, [field]: 'another' };
          expect(await store.management.claim(other, randomBytes(32), instants(AT_MS))).toBe('claimed');
        }
      }),
    );

    it(
      'stays running until the claim is stale, and is then taken over by one',
      withStore(open, async (store) => {
        const { claim } = await begin(store);
        expect(await claim(AT_MS)).toBe('claimed');
        expect(await claim(AT_MS + STALE_AFTER_MS)).toBe('running');
        const outcomes = await Promise.all(Array.from({ length: 5 }, () => claim(AT_MS + STALE_AFTER_MS + 1)));
        expect(outcomes.toSorted()).toEqual(['claimed', ...Array.from({ length: 4 }, () => 'running')]);
      }),
    );

    it(
      'returns the receipt that was stored together with the effect, until it is forgotten',
      withStore(open, async (store) => {
        const { name, claim, receipt } = await begin(store);
        const team = sampleTeam(name.organizationId);
        await claim(AT_MS, receipt.fingerprint);
        await change(store, name.organizationId, { teams: [team], receipt });
        expect(await claim(AT_MS + EXPIRED_AFTER_MS)).toEqual(receipt);
        await store.management.release(name);
        expect(await claim(AT_MS + 1)).toEqual(receipt);
        expect(await claim(AT_MS + EXPIRED_AFTER_MS + 1)).toBe('claimed');
        expect(await claim(AT_MS + EXPIRED_AFTER_MS + 1)).toBe('running');
      }),
    );

    it(
      'is free again once its effect did not come about',
      withStore(open, async (store) => {
        const { name, claim, receipt } = await begin(store);
        await claim(AT_MS, receipt.fingerprint);
        const version = await store.management.version(name.organizationId);
        const late = { organizationId: name.organizationId, expectedVersion: version + 1, audit: [], receipt };
        expect(await store.management.commit(late)).toBe('stale');
        expect(await claim(AT_MS)).toBe('running');
        await store.management.release(name);
        expect(await claim(AT_MS)).toBe('claimed');
      }),
    );

    it(
      'prevents a second effect: a request that lost the claim stores nothing',
      withStore(open, async (store) => {
        const { name, claim, receipt } = await begin(store);
        const { organizationId } = name;
        const { management } = store;
        await claim(AT_MS, receipt.fingerprint);
        const other = { ...receipt, answer: Buffer.from('the answer of the other') };
        expect(await claim(AT_MS + STALE_AFTER_MS + 1, receipt.fingerprint)).toBe('claimed');
        await change(store, organizationId, { teams: [sampleTeam(organizationId)], receipt: other });
        const again = {
          organizationId,
          expectedVersion: await management.version(organizationId),
          teams: [sampleTeam(organizationId)],
          audit: [sampleAudit(organizationId)],
          receipt,
        };
        expect(await management.commit(again)).toBe('stale');
        expect(await management.version(organizationId)).toBe(again.expectedVersion);
        expect(await management.teams(organizationId)).toHaveLength(2);
        expect(await claim(AT_MS + STALE_AFTER_MS + 2)).toEqual(other);
      }),
    );

    it(
      'is removed some time after it was forgotten',
      withStore(open, async (store, subject) => {
        const { name, claim, receipt } = await begin(store);
        await claim(AT_MS, receipt.fingerprint);
        await change(store, name.organizationId, { receipt });
        const later = AT_MS + EXPIRED_AFTER_MS + 1;
        const another = { ...name, value: 'another value' };
        expect(await store.management.claim(another, randomBytes(32), instants(later))).toBe('claimed');
        // Fails if the old receipt still exists.
        await subject.execute(
          `INSERT INTO idempotency_receipts (organization_id, key_id, operation, value, fingerprint, claimed_at)
           VALUES ('${name.organizationId}', '${name.keyId}', '${name.operation}', '${name.value.replace("'", "''")}', ${subject.bytes('00')}, 1)`,
        );
        expect(await store.management.claim(another, randomBytes(32), instants(later))).toBe('running');
      }),
    );
  });
}

type Begun = {
  readonly name: ReceiptName;
  readonly receipt: Receipt;
  claim(nowMs: number, fingerprint?: Buffer): Promise<'claimed' | 'running' | Receipt>;
};

async function begin(store: Management): Promise<Begun> {
  const { organization, apiKey } = await found(store);
  const name = { organizationId: organization.id, keyId: apiKey.id, operation: 'team.create', value: "it's ? a value" };
  return {
    name,
    receipt: { name, fingerprint: randomBytes(32), answer: randomBytes(5000) },
    claim: (nowMs, fingerprint = randomBytes(32)) => store.management.claim(name, fingerprint, instants(nowMs)),
  };
}

function instants(nowMs: number) {
  return { nowMs, staleBeforeMs: nowMs - STALE_AFTER_MS, expiredBeforeMs: nowMs - EXPIRED_AFTER_MS };
}
