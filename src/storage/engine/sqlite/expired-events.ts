/** Removes events that are past their term, oldest first, and the requests whose events are all gone. */

import { parseEventId } from '../../../domain/events/request-event.ts';
import type { StepBudget } from '../../retention/walk.ts';
import { packRequestKey, type StoredId } from './compact-ids.ts';
import type { Database } from './connection.ts';

type Step = Pick<StepBudget, 'rowsMax' | 'rowsAtOnce' | 'isOver'> & {
  /** Organizations up to this number are done. */
  readonly after: number;
  readonly beforeMs: number;
};

/** Answers a function to call inside a transaction. `next` is where the next step begins; null at the end. */
export function prepareExpiredEvents(
  db: Database,
): (step: Step) => { readonly removed: number; readonly next: number | null } {
  const statements = prepareStatements(db);

  function remove(organization: number, { createdAtMs, id, seq }: Row): void {
    statements.dropEvent.run(organization, createdAtMs, id);
    statements.dropEnvelope.run(organization, seq);
    const parsed = parseEventId(id);
    // Later events of a request are never older, so only its last event removes the request.
    if (parsed !== null) statements.dropRequest.run(organization, packRequestKey(parsed.base), createdAtMs);
  }

  return ({ after, beforeMs, rowsMax, rowsAtOnce, isOver }) => {
    let next = after;
    let removed = 0;
    // Every step makes progress, however little time there is.
    for (let examined = 0; examined === 0 || (examined < rowsMax && !isOver()); ) {
      const organization = statements.nextOrganization.get(next);
      if (organization === undefined) return { removed, next: null };
      const limit = Math.min(rowsAtOnce, rowsMax - examined);
      const rows = statements.oldest.all(organization, beforeMs, limit);
      for (const row of rows) remove(organization, row);
      removed += rows.length;
      // Visiting an organization costs about as much as a removal.
      examined += Math.max(1, rows.length);
      if (rows.length < limit) next = organization;
    }
    return { removed, next };
  };
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
      `SELECT created_at AS createdAtMs, id, seq FROM events
       WHERE organization_number = ? AND created_at < ? ORDER BY created_at, id LIMIT ?`,
    ),
    dropEvent: db.prepare<[number, number, string]>(
      'DELETE FROM events WHERE organization_number = ? AND created_at = ? AND id = ?',
    ),
    dropEnvelope: db.prepare<[number, number]>('DELETE FROM envelopes WHERE organization_number = ? AND seq = ?'),
    dropRequest: db.prepare<[number, StoredId, number]>(
      `DELETE FROM requests WHERE organization_number = ? AND request_key = ?
       AND max(ifnull(completed_at, 0), ifnull(settled_at, 0), ifnull(correction_at, 0)) <= ?`,
    ),
  };
}
