import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from '../support/temp.ts';
import { backfillCases } from './backfill-cases.ts';
import { quietLog } from './quiet-log.ts';

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

backfillCases(async (names) => {
  const folder = temporaryFolder();
  folders.push(folder);
  const file = join(folder.path, 'spandrel.db');
  const open = () => openStore({ url: `sqlite:${file}`, queueMaxBytes: 1024 * 1024, log: quietLog, writer: 'here' });
  await (await open()).close();
  const db = new Database(file);
  for (const name of names) db.prepare("INSERT INTO backfills VALUES (?, '', 0, NULL, 0, 0)").run(name);
  db.close();
  return await open();
});
