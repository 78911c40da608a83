import { expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { startStopwatch } from '../support/turns.ts';
import { ORGANIZATION, PROJECT, sampleAppend, sampleRequest, sampleSpan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const SPANS = 2000;
const TAKEN_MAX_MS = 10_000;

it('large metadata costs an append of many requests no more than reading it once', async () => {
  const store = await openStore({ url: 'sqlite::memory:', queueMaxBytes: 256 * 1024 * 1024, log: quietLog });
  const notes = Array.from({ length: 25_000 }, (_, index) => index * 1000);
  const metadataJson = JSON.stringify({ user_id: 'u', notes, big: 0 }).replace('"big":0', '"big":12345678901234567890');
  expect(metadataJson.length).toBeGreaterThan(200_000);
  const append = sampleAppend({
    metadataJson,
    spans: Array.from({ length: SPANS }, () => sampleSpan()),
    requests: Array.from({ length: SPANS }, (_, spanIndex) => sampleRequest({ spanIndex })),
  });
  const tookMs = startStopwatch();
  await store.traces.append(append);
  expect(tookMs()).toBeLessThan(TAKEN_MAX_MS);
  expect(await store.traces.find(PROJECT.number, append.traceId)).toMatchObject({ spanCount: SPANS });
  const range = { organization: ORGANIZATION, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, type: null, after: null };
  const events = await store.events.list({ ...range, limit: SPANS + 1 });
  expect(events).toHaveLength(SPANS);
  expect(JSON.parse(events[0]?.envelope ?? '').data).toMatchObject({ end_user_id: 'u', metadata: {} });
  await store.close();
});
