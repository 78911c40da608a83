/** What requests keep of corrections before the last: next to none has any, so append_batch knows nothing of it. */

import type pg from 'pg';
import type { Statement } from './connection.ts';
import type { RequestEntry, WrittenLogs } from './working-log.ts';

/** Whether anything is to follow what append_batch stores. */
export function hasEarlierCorrections({ requests }: WrittenLogs): boolean {
  for (const entry of requests.values()) if (isCorrectedAgain(entry)) return true;
  return false;
}

/** In the transaction of a batch, once it is written: a request that changed has lost what it had of them. */
export async function keepCorrections(client: pg.ClientBase, { requests }: WrittenLogs): Promise<void> {
  const entries = [...requests.values()].filter(isCorrectedAgain);
  if (entries.length === 0) return;
  const values = [
    entries.map(({ organizationNumber }) => organizationNumber),
    entries.map(({ key }) => key),
    entries.map(({ row }) => row.earlierCorrectionsAtMs.join(',')),
  ];
  await client.query({ ...KEEP, values });
}

function isCorrectedAgain({ row }: RequestEntry): boolean {
  return row.earlierCorrectionsAtMs.length > 0;
}

// All events of one batch are created at the same instant, which only the database knows: 0 stands for it.
const KEEP: Statement = {
  name: 'keep-corrections',
  text: `UPDATE requests SET earlier_corrections = array_to_string(
      array_replace(string_to_array(given.earlier, ','), '0', requests.correction_at::text), ',')
    FROM unnest($1::integer[], $2::text[], $3::text[]) AS given (organization_number, request_key, earlier)
    JOIN request_keys AS known USING (organization_number, request_key)
    WHERE requests.organization_number = known.organization_number
      AND requests.kept_at = known.kept_at AND requests.request_key = known.request_key`,
};
