/** What /readyz says of a store that cannot serve. */

import { expect, it } from 'vitest';
import { unavailableFault } from '../../src/domain/fault.ts';
import { shareReadiness } from '../../src/transport/health.ts';
import { createPages } from '../../src/transport/rest/pages.ts';

const VISIT = {
  query: '',
  header: () => undefined,
  ids: { requestId: 'req_1', traceId: '', spanId: '' },
  remoteAddress: null,
  network: null,
  isSecure: false,
};

async function readyz(ready: () => Promise<void>, heldMs = 0): Promise<{ status: number; body: unknown }> {
  const pages = createPages({
    people: true,
    readiness: shareReadiness(ready, () => 0),
    accepting: () => true,
    heldMs: () => heldMs,
    metrics: null,
    console: false,
    signIn: { byKey: true, oidc: null },
    publicUrl: () => 'http://127.0.0.1',
  });
  const page = await pages.find('/readyz')?.load(VISIT);
  return { status: page?.status ?? 0, body: JSON.parse(String(page?.body)) };
}

it('repeats what an operator must do, and no error that is not meant for the public', async () => {
  expect(await readyz(async () => {})).toEqual({ status: 200, body: { status: 'ready' } });
  const fault = unavailableFault('The database file is damaged.', 5, new Error('/data/spandrel.db'));
  expect(await readyz(() => Promise.reject(fault))).toEqual({
    status: 503,
    body: { status: 'store unavailable', detail: 'The database file is damaged.' },
  });
  expect(await readyz(() => Promise.reject(new Error('/data/spandrel.db')))).toEqual({
    status: 503,
    body: { status: 'store unavailable' },
  });
});

it('tells the operator that a clock which is ahead holds deletions back, and is ready all the same', async () => {
  const { status, body } = await readyz(async () => {}, 460 * 86_400_000);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'ready', detail: expect.stringContaining('460.0 days ahead') });
});
