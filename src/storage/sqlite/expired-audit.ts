/** Removes entries of the audit log that are past their term, oldest first. */

import type { Database } from './connection.ts';
import { type OrganizationStep, type OrganizationStepEnd, stepOrganizations } from './organization-steps.ts';

/** Null: entries are kept for ever. */
export type AuditStep = OrganizationStep & { readonly beforeMs: number | null };

/** Answers a function to call inside a transaction. */
export function prepareExpiredAudit(db: Database): (step: AuditStep) => OrganizationStepEnd {
  const following = db
    .prepare<[number], number>('SELECT number FROM organizations WHERE number > ? ORDER BY number LIMIT 1')
    .pluck();
  const dropOldest = db.prepare<[number, number, number]>(
    `DELETE FROM audit_log WHERE rowid IN (
       SELECT rowid FROM audit_log
       WHERE organization_id = (SELECT id FROM organizations WHERE number = ?) AND created_at < ?
       ORDER BY created_at, id LIMIT ?
     )`,
  );
  return ({ beforeMs, ...step }) => {
    if (beforeMs === null) return { removed: 0, next: null };
    return stepOrganizations(step, {
      nextOrganization: (after) => following.get(after),
      removeOldest: (organization, countMax) => dropOldest.run(organization, beforeMs, countMax).changes,
    });
  };
}
