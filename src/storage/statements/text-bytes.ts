/** SQL for the length of texts. */

import { sql } from 'kysely';

export function textBytes(columns: readonly string[]) {
  const parts = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(parts, sql` + `)}`;
}
