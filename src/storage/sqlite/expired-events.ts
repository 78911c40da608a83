/** Removes events that are past their term, oldest first, with the requests of which no event is left. */

import { parseEventId } from '../../domain/request-event.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';
import { type OrganizationStep, type OrganizationStepEnd, stepOrganizations } from './organization-steps.ts';

/** Answers a function to call inside a transaction. */
export function prepareExpiredEvents(
  db: Database,
): (step: OrganizationStep & { readonly beforeMs: number }) => OrganizationStepEnd {
  const statements = prepareStatements(db);

  function remove(organization: number, { createdAtMs, id, seq }: Row): void {
    statements.dropTime.run(organization, createdAtMs, id);
    statements.dropEvent.run(organization, seq);
    const parsed = parseEventId(id);
    // The later events of a request are never older, so only its last one takes it along.
    if (parsed !== null) statements.dropRequest.run(organization, packRequestKey(parsed.base), seq);
  }

  return ({ beforeMs, ...step }) =>
    stepOrganizations(step, {
      nextOrganization: (after) => statements.nextOrganization.get(after),
      removeOldest(organization, countMax) {
        const rows = statements.oldest.all(organization, beforeMs, countMax);
        for (const row of rows) remove(organization, row);
        return rows.length;
      },
    });
}

type Row = { readonly createdAtMs: number; readonly id: string; readonly seq: number };

function prepareStatements(db: Database) {
  return {
    nextOrganization: db
      .prepare<[number], number>(
        'SELECT organization_number FROM log_heads WHERE organization_number > ? ORDER BY organization_number LIMIT 1',
      )
      .pluck(),
    oldest: db.prepare<[number, number, number], Row>(
      `SELECT created_at AS createdAtMs, id, seq FROM events_by_time
       WHERE organization_number = ? AND created_at < ? ORDER BY created_at, id LIMIT ?`,
    ),
    dropTime: db.prepare<[number, number, string]>(
      'DELETE FROM events_by_time WHERE organization_number = ? AND created_at = ? AND id = ?',
    ),
    dropEvent: db.prepare<[number, number]>('DELETE FROM events WHERE organization_number = ? AND seq = ?'),
    dropRequest: db.prepare<[number, StoredId, number]>(
      `DELETE FROM requests WHERE organization_number = ? AND request_key = ?
       AND max(ifnull(completed_seq, 0), ifnull(settled_seq, 0), ifnull(correction_seq, 0)) <= ?`,
    ),
  };
}
