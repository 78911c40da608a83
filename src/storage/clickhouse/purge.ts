/**
 * Takes removed traces from the disk. A row that says so hides the rows of a trace, whose texts stay until the engine happens
 * to merge them.
 */

import type { ClickHouse } from './client.ts';

const REMOVED = 'SELECT sequence FROM traces WHERE is_deleted = 1';
const KEPT = `SELECT sequence FROM traces WHERE is_deleted = 0 AND sequence IN (${REMOVED})`;

/**
 * Begins to rewrite the parts with such rows, and leaves all others. The rows that hide go a purge later, once they hide
 * nothing: parts are rewritten one by one, and a trace must not come back meanwhile.
 */
export async function purgeRemoved(clickHouse: ClickHouse): Promise<void> {
  const [removed] = await clickHouse.rows<{ count: number }>(
    'SELECT toUInt32(count()) AS count FROM traces WHERE is_deleted = 1',
  );
  if (removed === undefined || removed.count === 0) return;
  await clickHouse.command(`ALTER TABLE traces DELETE WHERE is_deleted = 1 AND sequence NOT IN (${KEPT})`);
  await clickHouse.command(`ALTER TABLE traces DELETE WHERE is_deleted = 0 AND sequence IN (${REMOVED})`);
}
