/** Creates the SQLite schema once per run; tests' databases are copies of this file. */

import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from './temp.ts';

export default async function setup(project: TestProject): Promise<() => void> {
  const folder = temporaryFolder();
  const file = join(folder.path, 'empty.db');
  const log = { warn: () => undefined, error: () => undefined };
  const store = await openStore({ url: `sqlite:${file}`, queueMaxBytes: 1024 * 1024, log, writer: 'here' });
  await store.close();
  project.provide('emptyFile', file);
  return () => folder.remove();
}
