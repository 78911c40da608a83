/** Removes entries of the audit log that are past their term, from organization to organization, oldest first. */

import { DONE, type Task } from './retention-task.ts';

type Removal = {
  readonly removed: number;
  /** The last organization that was looked at; null when there is none behind those. */
  readonly last: number | null;
};

/** `beforeMs` null: entries are kept for ever. Organizations up to `after` have nothing more to remove. */
export function removeExpiredAudit(beforeMs: number | null, after = 0): Task {
  return async (client, rowsMax) => {
    if (beforeMs === null) return DONE;
    // The time of an entry is in the join so that the database, whatever it knows of the table, finds it by a key.
    const { rows } = await client.query<Removal>(
      `WITH batch AS (
         SELECT number, id FROM organizations WHERE number > $1::integer ORDER BY number LIMIT $3
       ), old AS (
         SELECT entry.* FROM batch CROSS JOIN LATERAL (
           SELECT organization_id, created_at, id FROM audit_log
           WHERE organization_id = batch.id AND created_at < $2::bigint ORDER BY created_at, id LIMIT $3
         ) AS entry
         LIMIT $3
       ), gone AS (
         DELETE FROM audit_log USING old
         WHERE audit_log.organization_id = old.organization_id AND audit_log.created_at = old.created_at
           AND audit_log.id = old.id
         RETURNING 1
       )
       SELECT (SELECT count(*)::integer FROM gone) AS removed,
         (SELECT number FROM batch ORDER BY number OFFSET $3 - 1) AS last`,
      [after, beforeMs, rowsMax],
    );
    const { removed, last } = rows[0] ?? { removed: 0, last: null };
    // When there are as many as may go in a step, there may be more of them.
    const following = removed === rowsMax ? after : last;
    return {
      next: following === null ? [] : [removeExpiredAudit(beforeMs, following)],
      removed: { auditEntries: removed },
    };
  };
}
