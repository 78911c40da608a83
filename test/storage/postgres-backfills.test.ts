import { afterEach, inject } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { createDatabases, query } from '../support/postgres-databases.ts';
import { backfillCases } from './backfill-cases.ts';
import { quietLog } from './quiet-log.ts';

const created: string[] = [];
afterEach(async () => {
  for (const url of created.splice(0)) await createDatabases(url).dropDatabase(url);
});

backfillCases(async (names) => {
  const { address, template } = inject('postgres');
  const url = await createDatabases(address).createDatabase(template);
  created.push(url);
  const rows = names.map((name) => `('${name}', '', 0, NULL, 0, 0)`);
  await query(url, `INSERT INTO backfills VALUES ${rows.join(', ')}`);
  return await openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });
});
