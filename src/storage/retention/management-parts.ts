/** What retention removes of management: expired entries of the audit log. */

import type { ManagementCuts } from '../../domain/management/management-port.ts';
import type { PartEnd, PartStep, Parts, RetentionQueries } from './parts.ts';

export const MANAGEMENT_PARTS = { audit: removeExpiredAudit } satisfies Parts<ManagementCuts>;

/** Goes organization by organization, oldest first; `after` is the number of the last one that is done. */
async function removeExpiredAudit(
  queries: RetentionQueries,
  { cuts: { auditBeforeMs: beforeMs }, runQuery, change, after, rowsMax, rowsAtOnce, isOver }: PartStep<ManagementCuts>,
): Promise<PartEnd> {
  let next = after;
  let removed = 0;
  const endAt = (last: number | null): PartEnd => ({ removed: { auditEntries: removed }, next: last });
  if (beforeMs === null) return endAt(null);
  // Visiting an organization costs about as much as a removal.
  for (let rows = 0; rows === 0 || (rows < rowsMax && !isOver()); rows += rowsAtOnce) {
    const limit = Math.min(rowsAtOnce, rowsMax - rows);
    const count = await change(queries.removeOldAudit, { after: next, beforeMs, limit });
    removed += count;
    // A full batch may have more behind it.
    if (count === limit) continue;
    const [last] = await runQuery(queries.findLastOrganization, { after: next, skipped: limit - 1 });
    if (last === undefined) return endAt(null);
    next = last.number;
  }
  return endAt(next);
}
