import { expect, it } from 'vitest';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { expectHarmlessClocks } from './clock-property.ts';
import type { Row } from './conformance/subject.ts';
import { quietLog } from './quiet-log.ts';

it('whatever the clock does, nothing within its term is deleted, and logs and retries follow it once it is right', async () => {
  await expectHarmlessClocks(async () => {
    let nowMs = Date.now();
    const opened = openCore({ file: ':memory:', clock: () => nowMs });
    const store = createInlineStore(opened, { queueMaxBytes: 1024 * 1024, log: quietLog });
    return {
      store,
      bytes: (hex) => `X'${hex}'`,
      execute: (sql) => void opened.db.exec(sql),
      read: async (sql) => opened.db.prepare<[], Row>(sql).all(),
      dispose: () => store.close(),
      setClock(atMs) {
        nowMs = atMs;
      },
    };
  });
  expect.hasAssertions();
});
