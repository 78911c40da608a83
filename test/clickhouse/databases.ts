/** Databases in ClickHouse, one for each store under test. */

import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { openClickHouse } from '../../src/storage/clickhouse/client.ts';

export type ClickHouseDatabase = { readonly url: string; remove(): Promise<void> };

export async function createClickHouseDatabase(): Promise<ClickHouseDatabase> {
  const server = inject('clickHouse');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const run = async (statement: string) => {
    const clickHouse = openClickHouse(`${server}/default`);
    await clickHouse.command(statement);
    await clickHouse.close();
  };
  await run(`CREATE DATABASE ${name}`);
  return { url: `${server}/${name}`, remove: () => run(`DROP DATABASE ${name}`) };
}
