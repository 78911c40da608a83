import { expect, it } from 'vitest';
import { startAppending, walkUnderLoad } from '../support/log-load.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { type SpawnedServer, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { readPage } from '../support/walk-log.ts';

const EVENTS_PER_SECOND = isFullTier ? 2_000 : 250;
const EVENTS_BEFORE = isFullTier ? 40_000 : 600;
const CURSOR_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

it('W7: a walk over the log returns each earlier event exactly once, despite appends and restarts', async () => {
  const seed = drawSeed();
  const random = seeded(seed);
  const database = await createTestDatabase();
  let server: SpawnedServer = await spawnServer(database.environment);
  const address = () => server.address;
  const restart = async () => {
    await server.stop('SIGKILL');
    server = await spawnServer(database.environment);
  };
  try {
    const appending = startAppending({ addresses: () => [address()], eventsPerSecond: EVENTS_PER_SECOND });
    await until(() => appending.appended.length >= EVENTS_BEFORE, 120_000);
    const walks = await walkUnderLoad({ address, restart }, appending);
    const eventsPerSecond = await appending.stop();
    const { forged, accepted } = await forgeCursors(address(), random);
    const pass = walks.lost + walks.repeated + walks.disordered + accepted === 0;
    report({ id: `W7 at ${eventsPerSecond}/s`, seed, n: walks.walked, lost: walks.lost, dup: walks.repeated, pass });
    expect(walks).toMatchObject({ lost: 0, repeated: 0, disordered: 0 });
    expect(accepted, `of ${forged} forged cursors`).toBe(0);
    expect(appending.sender.refusals.wrong).toEqual([]);
    expect(walks.restarts).toBeGreaterThan(1);
    expect(walks.ties, 'events of one instant').toBeGreaterThan(isFullTier ? 1_000 : 250);
    expect(walks.appendedMeanwhile, 'events appended during walks').toBeGreaterThan(EVENTS_PER_SECOND / 2);
    expect(appending.sender.refusals.cut, 'restarts hit appends').toBeGreaterThan(0);
  } finally {
    await server.stop('SIGKILL');
    await database.remove();
  }
});

/** Replaces, removes and doubles each character of a valid cursor. */
async function forgeCursors(address: string, random: () => number): Promise<{ forged: number; accepted: number }> {
  const page = { from: 0, limit: 2 };
  const first = await readPage(address, { ...page, cursor: '' });
  const cursor: string = first.body.next_cursor;
  expect((await readPage(address, { ...page, cursor })).status).toBe(200);
  const forgeries = [...cursor].flatMap((character, index) => {
    const others = CURSOR_CHARACTERS.replace(character, '');
    const other = others[Math.floor(random() * others.length)] ?? '';
    return [other, '', character + character].map((put) => cursor.slice(0, index) + put + cursor.slice(index + 1));
  });
  let accepted = 0;
  await inParallel(forgeries, 4, async (forgery) => {
    const { status, body } = await readPage(address, { ...page, cursor: forgery });
    if (status !== 400 || body.error.code !== 'invalid_cursor') accepted += 1;
  });
  return { forged: forgeries.length, accepted };
}
