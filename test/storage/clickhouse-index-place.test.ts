import { expect, it } from 'vitest';
import type { ClickHouse } from '../../src/storage/clickhouse/client.ts';
import { createIndexPlace } from '../../src/storage/clickhouse/index-place.ts';

it('a step that cannot store its traces does not say that the tables are filled', async () => {
  const states: object[] = [];
  let isFull = true;
  const clickHouse: ClickHouse = {
    rows: async (sql) => answerTo(sql, states) as never,
    command: async () => undefined,
    insert: async (table, rows) => {
      if (table === 'state') states.push(...rows);
      else if (table === 'traces' && isFull) throw new Error('the disk is full');
    },
    close: async () => undefined,
  };
  const place = createIndexPlace(clickHouse);
  const state = { previous: null, sequences: [], walkedTo: 0, walkEnd: 9 };
  await place.renew({ ...state, step: 'first' });
  const last = { ...state, step: 'last', previous: 'first', walkedTo: 9 };
  await expect(place.write(last, new Map())).rejects.toThrow('the disk is full');
  expect(await place.readState()).toMatchObject({ step: 'last', walkedTo: 0 });
  isFull = false;
  await place.write(last, new Map());
  expect(await place.readState()).toMatchObject({ step: 'last', walkedTo: 9 });
});

function answerTo(sql: string, states: readonly object[]): readonly object[] {
  if (sql.includes('version()')) return [{ version: '26.7.2.1', readonly: 0 }];
  if (!sql.includes('FROM state')) return [];
  const stored = states.at(-1) as Readonly<Record<string, unknown>> | undefined;
  return stored === undefined ? [] : [{ ...stored, walkedTo: stored.walked_to, walkEnd: stored.walk_end }];
}
