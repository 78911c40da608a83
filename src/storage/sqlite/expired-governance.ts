/** Removes events outside of the log that are past their term, oldest first. */

import type { Database } from './connection.ts';
import type { EventStep } from './expired-events.ts';
import { type OrganizationStepEnd, stepOrganizations } from './organization-steps.ts';

/** Answers a function to call inside a transaction. */
export function prepareExpiredGovernance(db: Database): (step: EventStep) => OrganizationStepEnd {
  const following = db
    .prepare<[number], number>(
      'SELECT organization_number FROM log_heads WHERE organization_number > ? ORDER BY organization_number LIMIT 1',
    )
    .pluck();
  const oldest = db.prepare<[number, number, number], { readonly id: string; readonly seq: number }>(
    `SELECT id, seq FROM governance_events
     WHERE organization_number = ? AND created_at < ? ORDER BY created_at LIMIT ?`,
  );
  const dropId = db.prepare<[number, string]>('DELETE FROM governance_events WHERE organization_number = ? AND id = ?');
  const dropEvent = db.prepare<[number, number]>('DELETE FROM events WHERE organization_number = ? AND seq = ?');

  return ({ beforeMs, ...step }) =>
    stepOrganizations(step, {
      nextOrganization: (after) => following.get(after),
      removeOldest(organization, countMax) {
        const rows = oldest.all(organization, beforeMs, countMax);
        for (const { id, seq } of rows) {
          dropId.run(organization, id);
          dropEvent.run(organization, seq);
        }
        return rows.length;
      },
    });
}
