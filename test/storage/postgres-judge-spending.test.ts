import { expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { createPostgresTestDatabase } from '../support/test-database.ts';
import { countGranted } from './conformance/judge-spending.ts';
import { quietLog } from './quiet-log.ts';

it('processes that reserve at once grant together what one of them would, and a later one sees it', async () => {
  const database = await createPostgresTestDatabase();
  const open = () => openStore({ url: database.url, queueMaxBytes: 1024 * 1024, log: quietLog });
  const stores = [await open(), await open(), await open()];
  expect(await countGranted(stores.map(({ judgeSpending }) => judgeSpending))).toBe(10);
  for (const store of stores) await store.close();
  const later = await open();
  expect(await countGranted([later.judgeSpending])).toBe(0);
  await later.close();
  await database.remove();
});
