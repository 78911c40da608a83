import { expect, it } from 'vitest';
import { ANCHOR_DISTANCE_MAX_MS } from '../../src/domain/traces/trace-anchor.ts';
import { openCore } from '../../src/storage/engine/sqlite/core.ts';
import { createInlineStore } from '../../src/storage/engine/sqlite/store.ts';
import { PROJECT, RECEIVED_AT_MS, sampleAppend, sampleSpan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';
import { countsVersions } from './span-version-cases.ts';

it('a span that is sent again has a higher version', async () => {
  const opened = openCore({ file: ':memory:', clock: Date.now });
  const store = createInlineStore(opened, { queueMaxBytes: 1024 * 1024, log: quietLog });
  const versions = opened.db.prepare('SELECT version FROM spans ORDER BY started_at').pluck();
  await countsVersions(store, async () => versions.all());
  await store.close();
});

it('a trace that was stored before traces had an anchor gets the start that it had, however late it is sent again', async () => {
  const opened = openCore({ file: ':memory:', clock: Date.now });
  const store = createInlineStore(opened, { queueMaxBytes: 1024 * 1024, log: quietLog });
  const span = sampleSpan({ startedAtMs: RECEIVED_AT_MS - 1_000 });
  const append = sampleAppend({ spans: [span], requests: [] });
  await store.traces.append(append);
  opened.db.exec('UPDATE traces SET anchor_at = NULL');
  const later = { startedAtMs: RECEIVED_AT_MS - 9_000, finishedAtMs: RECEIVED_AT_MS };
  const receivedAtMs = RECEIVED_AT_MS + 2 * ANCHOR_DISTANCE_MAX_MS;
  await store.traces.append({ ...append, spans: [{ ...span, ...later }], receivedAtMs });
  const trace = await store.traces.find(PROJECT.number, append.traceId);
  expect(trace).toMatchObject({ startedAtMs: later.startedAtMs, anchorAtMs: span.startedAtMs });
  await store.close();
});
