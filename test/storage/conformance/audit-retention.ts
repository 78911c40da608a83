import { describe, expect, it } from 'vitest';
import { beginWalk } from '../../../src/domain/retention-walk.ts';
import { EVERYTHING } from './audit.ts';
import { AT_MS, change, found, foundAnother, sampleAudit } from './management-samples.ts';
import { finish, repeating } from './retention-walk.ts';
import { type OpenManagement, withStore } from './subject.ts';

/** The most rows per step. */
const ROWS = 10;

export function auditRetentionConformance(open: OpenManagement): void {
  describe('retention of the audit log', () => {
    it(
      'removes what is from before the cut in every organization, in small steps, and nothing else',
      withStore(open, async (store, subject) => {
        const { organization } = await found(store);
        const ids = [organization.id, await foundAnother(subject), await foundAnother(subject)];
        for (const id of ids) {
          const old = Array.from({ length: 3 * ROWS }, (_, index) =>
            sampleAudit(id, { createdAtMs: AT_MS - 1 - index }),
          );
          await change(store, id, { audit: [...old, sampleAudit(id), sampleAudit(id, { createdAtMs: AT_MS + 1 })] });
        }
        const left = async () => {
          const lists = await Promise.all(ids.map((id) => store.management.audit(id, EVERYTHING)));
          return lists.map((entries) => entries.filter(({ actorKind }) => actorKind !== 'bootstrap'));
        };
        const before = (await left()).map((entries) => entries.filter(({ createdAtMs }) => createdAtMs >= AT_MS));
        const versions = await Promise.all(ids.map((id) => store.management.version(id)));
        const takeStep = beginWalk(store.managementRetention.begin({ auditBeforeMs: AT_MS }));
        let removed = 0;
        for (let outcome = ''; outcome !== 'done'; ) {
          const step = await takeStep(ROWS);
          outcome = step.outcome;
          expect(step.removed.auditEntries).toBeLessThanOrEqual(ROWS);
          removed += step.removed.auditEntries;
        }
        expect(await left()).toEqual(before);
        expect(before.map((entries) => entries.length)).toEqual([2, 2, 2]);
        expect(removed).toBeGreaterThanOrEqual(ids.length * 3 * ROWS);
        // Removal does not change the version.
        expect(await Promise.all(ids.map((id) => store.management.version(id)))).toEqual(versions);
      }),
    );

    it(
      'removes nothing where entries are kept for ever',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        await change(store, organization.id, { audit: [sampleAudit(organization.id, { createdAtMs: 1 })] });
        const before = await store.management.audit(organization.id, EVERYTHING);
        await finish(store.managementRetention.begin({ auditBeforeMs: null }), ROWS);
        expect(await store.management.audit(organization.id, EVERYTHING)).toEqual(before);
      }),
    );

    it(
      'MUST be safe when a task is run again',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const old = Array.from({ length: 3 * ROWS }, () => sampleAudit(organization.id, { createdAtMs: AT_MS - 1 }));
        await change(store, organization.id, { audit: [...old, sampleAudit(organization.id)] });
        await finish(repeating(store.managementRetention.begin({ auditBeforeMs: AT_MS })), ROWS);
        const left = await store.management.audit(organization.id, EVERYTHING);
        expect(left.filter(({ createdAtMs }) => createdAtMs < AT_MS)).toEqual([]);
        expect(left.length).toBeGreaterThan(0);
      }),
    );
  });
}
