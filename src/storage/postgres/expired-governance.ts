/** Frees the ids of events outside of the log whose month is gone; the events themselves go with their month. */

import { DONE, type Task } from './retention-task.ts';

export function removeExpiredGovernance(beforeMs: number): Task {
  return async (client, rowsMax) => {
    const { rowCount } = await client.query(
      `WITH old AS (
         SELECT organization_number, id FROM governance_events WHERE created_at < $1::bigint ORDER BY created_at LIMIT $2
       )
       DELETE FROM governance_events USING old
       WHERE governance_events.organization_number = old.organization_number AND governance_events.id = old.id`,
      [beforeMs, rowsMax],
    );
    return rowCount === rowsMax ? { next: [removeExpiredGovernance(beforeMs)] } : DONE;
  };
}
