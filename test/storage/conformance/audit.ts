import { describe, expect, it } from 'vitest';
import type { AuditListing, AuditRecord } from '../../../src/domain/management/management.ts';
import { AT_MS, change, found, sampleAudit } from './management-samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

export const EVERYTHING: AuditListing = {
  fromMs: null,
  toMs: null,
  action: null,
  actorUserId: null,
  actorKeyId: null,
  targetId: null,
  outcome: null,
  after: null,
  limit: 100,
};
const MINUTE_MS = 60_000;

export function auditConformance(open: OpenManagement): void {
  listConformance(open);
  refusalConformance(open);
}

function listConformance(open: OpenManagement): void {
  describe('the audit log', () => {
    it(
      'returns whole entries, newest first by (createdAt, id), and continues after any of them',
      withStore(open, async (store) => {
        const { organization, auditId } = await found(store);
        const { id } = organization;
        const audit = [
          sampleAudit(id, { id: 'audit_b', createdAtMs: AT_MS + 1, fields: [] }),
          sampleAudit(id, { id: 'audit_B', createdAtMs: AT_MS + 1, traceId: '0af7', userAgent: "it's ? Größe" }),
          sampleAudit(id, { id: 'audit_c', createdAtMs: AT_MS + 3, actorUserId: null, actorKeyId: null }),
          sampleAudit(id, { id: 'audit_d', createdAtMs: AT_MS + 2, targetId: null, code: 'x', status: 403 }),
        ];
        await change(store, id, { audit });
        const entries = await store.management.audit(id, EVERYTHING);
        expect(entries.slice(0, -1)).toEqual([audit[2], audit[3], audit[0], audit[1]]);
        expect(entries.at(-1)).toMatchObject({ id: auditId, actorKind: 'bootstrap', fields: [], code: null });
        const walked: AuditRecord[] = [];
        let page = await store.management.audit(id, { ...EVERYTHING, limit: 1 });
        while (page.length > 0) {
          walked.push(...page);
          page = await store.management.audit(id, { ...EVERYTHING, limit: 1, after: page.at(-1) ?? null });
        }
        expect(walked).toEqual(entries);
        expect(await store.management.audit('organization_unknown', EVERYTHING)).toEqual([]);
      }),
    );

    it(
      'returns only what the filters name, both ends of the range included',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const { id } = organization;
        const audit = [
          sampleAudit(id, { id: 'audit_1', createdAtMs: AT_MS + 1, action: 'team.create', actorUserId: 'user_a' }),
          sampleAudit(id, { id: 'audit_2', createdAtMs: AT_MS + 2, actorKeyId: 'key_a', targetId: 'target_a' }),
          sampleAudit(id, { id: 'audit_3', createdAtMs: AT_MS + 3, outcome: 'refused', targetId: 'target_a' }),
        ];
        await change(store, id, { audit });
        const list = async (listing: Partial<AuditListing>) =>
          (await store.management.audit(id, { ...EVERYTHING, ...listing })).map((entry) => entry.id.slice(-1)).join('');
        expect(await list({ fromMs: AT_MS + 1 })).toBe('321');
        expect(await list({ fromMs: AT_MS + 1, toMs: AT_MS + 2 })).toBe('21');
        expect(await list({ fromMs: AT_MS + 2, toMs: AT_MS + 2 })).toBe('2');
        expect(await list({ action: 'team.create' })).toBe('1');
        expect(await list({ actorUserId: 'user_a' })).toBe('1');
        expect(await list({ actorKeyId: 'key_a' })).toBe('2');
        expect(await list({ targetId: 'target_a' })).toBe('32');
        expect(await list({ targetId: 'target_a', outcome: 'refused' })).toBe('3');
        expect(await list({ targetId: 'target_a', after: { createdAtMs: AT_MS + 3, id: 'audit_3' } })).toBe('2');
        expect(await list({ action: 'nothing' })).toBe('');
        expect(await list({ targetId: 'a\u0000b' })).toBe('');
      }),
    );
  });
}

function refusalConformance(open: OpenManagement): void {
  describe('refusals', () => {
    it(
      'are counted up where the same one is at most a minute old, and stored without a version',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const { id } = organization;
        const version = await store.management.version(id);
        const same = { outcome: 'refused', status: 403, code: 'insufficient_permissions', targetId: null } as const;
        const note = async (changes: Partial<AuditRecord>) =>
          await store.management.recordRefusal(sampleAudit(id, { ...same, ...changes }));
        await note({});
        await note({ createdAtMs: AT_MS + MINUTE_MS, count: 5 });
        await note({ createdAtMs: AT_MS + MINUTE_MS + 1 });
        await note({ createdAtMs: AT_MS + MINUTE_MS + 2 });
        await note({ targetId: 'another' });
        await note({ code: 'another' });
        await note({ action: 'another' });
        await note({ actorKeyId: 'another' });
        await note({ actorKeyId: null });
        await note({ actorKeyId: null });
        const entries = await store.management.audit(id, { ...EVERYTHING, outcome: 'refused' });
        expect(entries.map((entry) => [entry.createdAtMs - AT_MS, entry.count]).toSorted()).toEqual(
          [
            [0, 6],
            [MINUTE_MS + 1, 2],
            [0, 1],
            [0, 1],
            [0, 1],
            [0, 1],
            [0, 2],
          ].toSorted(),
        );
        expect(await store.management.version(id)).toBe(version);
      }),
    );
  });
}
