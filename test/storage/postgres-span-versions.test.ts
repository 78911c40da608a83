import { it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../support/postgres-databases.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { quietLog } from './quiet-log.ts';
import { countsVersions } from './span-version-cases.ts';

it('a span that is sent again has a higher version', async () => {
  const { url, remove } = await createPostgresTestDatabase();
  const store = await openStore({ url, queueMaxBytes: 1024 * 1024, log: quietLog });
  await countsVersions(store, async () =>
    (await query(url, 'SELECT version FROM spans ORDER BY started_at')).map(({ version }) => version),
  );
  await store.close();
  await remove();
});
