import { expect, it } from 'vitest';
import { publishChanges } from '../../src/domain/traces/tail/change-feed.ts';
import { openMemoryStore } from '../../src/storage/engine/sqlite/store.ts';
import { PROJECT, RECEIVED_AT_MS, sampleAppend } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

it('listeners are notified of every change of a trace: appends, metadata, new prices', async () => {
  const store = await openMemoryStore({ queueMaxBytes: 1024 * 1024, log: quietLog });
  try {
    const noted: string[] = [];
    const { traces, traceChanges, repricing } = publishChanges(store, {
      publish: ({ projectNumber, traceId }) => void noted.push(`${projectNumber} ${traceId}`),
    });
    const removeNoted = () => noted.splice(0);
    const [one, other] = [sampleAppend(), sampleAppend()];
    await traces.append(one);
    expect(removeNoted()).toEqual([`1 ${one.traceId}`]);
    await traces.append(other);
    expect(removeNoted()).toEqual([`1 ${other.traceId}`]);
    const named = { projectNumber: PROJECT.number, traceId: one.traceId };
    const patch = { setJson: '{"seen":true}', removed: [] };
    await traceChanges.patchMetadata({ ...named, expiredBeforeMs: null }, patch, RECEIVED_AT_MS);
    expect(removeNoted()).toEqual([`1 ${one.traceId}`]);
    await repricing.reprice({
      kind: 'repricing',
      projectNumber: PROJECT.number,
      nowMs: RECEIVED_AT_MS,
      traces: [{ traceId: other.traceId, prices: [] }],
    });
    expect(removeNoted()).toEqual([`1 ${other.traceId}`]);
  } finally {
    await store.close();
  }
});
