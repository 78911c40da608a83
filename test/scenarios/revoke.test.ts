import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { actAt, createEnds, type EndsDeps, playGivingBack, playRound } from '../support/credential-ends.ts';
import { addKey, custom } from '../support/fixtures.ts';
import { openLines } from '../support/open-lines.ts';
import { isFullTier, report } from '../support/scenario.ts';

const ORGANIZATION = 'organization-of-the-test';
const ROUNDS = isFullTier ? 100 : 4;

let nowMs = Date.now();
let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    writer: 'in its thread',
    clock: () => nowMs,
    environment: { SPANDREL_BOOTSTRAP_ORGANIZATION_ID: ORGANIZATION },
  });
});
afterAll(async () => {
  await app.close();
});

const deps: EndsDeps = {
  act: (...action) => actAt(app.address, app.adminKey)(...action),
  organizationId: ORGANIZATION,
  nowMs: () => nowMs,
  approach: ({ atMs }) => {
    nowMs = atMs - 1;
  },
  reach: async ({ atMs }) => {
    nowMs = atMs;
  },
};

describe('K2: on connections that stay open, the very next request is refused', () => {
  it.each(Object.entries(createEnds(deps)))('to %s', async (name, make) => {
    const counts = { requests: 0, stale: 0, early: 0, underWay: 0 };
    const askers = { address: app.address, restless: [app.address] };
    for (let round = 0; round < ROUNDS; round++) await playRound(await make(), askers, counts);
    report({ id: `K2 ${name}`, seed: 0, n: counts.requests, lost: counts.stale, pass: counts.stale === 0 });
    expect(counts.stale).toBe(0);
    expect(counts.early).toBeGreaterThan(0);
  });

  it('and what is given back works on the very next one', async () => {
    await playGivingBack(deps, app.address);
  });
});

it('a stored CUSTOM grant with an empty list grants nothing', async () => {
  const token = await addKey(app, { bindings: [custom('ORGANIZATION', ORGANIZATION, [])] });
  const lines = openLines(app.address);
  for (const line of lines) expect(await line.ask('organization', token), line.name).toBe(403);
  for (const line of lines) line.close();
});
