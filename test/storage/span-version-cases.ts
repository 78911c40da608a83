import { expect } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { RECEIVED_AT_MS, sampleAppend, sampleSpan } from './conformance/samples.ts';

/** Sends spans of a trace several times. `readVersions` reads the versions of all rows by the order of their starts. */
export async function countsVersions(store: Store, readVersions: () => Promise<readonly unknown[]>): Promise<void> {
  const [once, often] = [sampleSpan({ startedAtMs: RECEIVED_AT_MS }), sampleSpan({ startedAtMs: RECEIVED_AT_MS + 1 })];
  const append = sampleAppend({ spans: [once, often, { ...often, name: 'twice in one append' }], requests: [] });
  await store.traces.append(append);
  expect(await readVersions()).toEqual([null, null]);
  for (const version of [1, 2, 3]) {
    await store.traces.append({
      ...append,
      spans: [{ ...often, name: String(version) }],
      receivedAtMs: RECEIVED_AT_MS + version,
    });
    expect(await readVersions()).toEqual([null, version]);
  }
}
