/** SQL for the sum of lengths, some of which may be null. */

import { type RawBuilder, sql } from 'kysely';

export function sumOf(lengths: readonly RawBuilder<number | null>[]) {
  const parts = lengths.map((length) => sql`coalesce(${length}, 0)`);
  return sql<number>`${sql.join(parts, sql` + `)}`;
}
