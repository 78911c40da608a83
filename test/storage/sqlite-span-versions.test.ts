import { it } from 'vitest';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { quietLog } from './quiet-log.ts';
import { countsVersions } from './span-version-cases.ts';

it('a span that is sent again has a higher version', async () => {
  const opened = openCore({ file: ':memory:', clock: Date.now });
  const store = createInlineStore(opened, { queueMaxBytes: 1024 * 1024, log: quietLog });
  const versions = opened.db.prepare('SELECT version FROM spans ORDER BY started_at').pluck();
  await countsVersions(store, async () => versions.all());
  await store.close();
});
