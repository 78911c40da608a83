import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { startAppending, walkUnderLoad } from '../support/log-load.ts';
import { query } from '../support/postgres-databases.ts';
import { isFullTier, report } from '../support/scenario.ts';
import { type SpawnedServer, spawnServer } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { walkLog } from '../support/walk-log.ts';

const EVENTS_PER_SECOND = isFullTier ? 2_000 : 120;
const EVENTS_BEFORE = isFullTier ? 40_000 : 600;
// The polls must not use the whole machine.
const POLL_PAUSE_MS = isFullTier ? 50 : 150;

type Follower = {
  /** Resolves after `stop`, once the reader has read one last time. */
  readonly finished: Promise<void>;
  stop(): void;
};

function follow(readNew: () => Promise<void>): Follower {
  let isRunning = true;
  const run = async () => {
    while (isRunning) {
      await readNew();
      await delay(POLL_PAUSE_MS);
    }
    await readNew();
  };
  const finished = run();
  // The caller that awaits `finished` gets the failure.
  finished.catch(() => undefined);
  return {
    finished,
    stop() {
      isRunning = false;
    },
  };
}

/** Reads over REST the events created since the newest known one, that instant included. */
function createReaderByCreated(addresses: readonly string[]) {
  const seen = new Set<string>();
  let from = 0;
  let polls = 0;
  return {
    seen,
    polls: () => polls,
    async readNew() {
      polls += 1;
      const events = await walkLog({ address: () => addresses[polls % addresses.length] ?? '', from });
      for (const event of events) seen.add(event.id);
      const [newest] = events;
      if (newest !== undefined) from = Date.parse(newest.created);
    },
  };
}

/** Reads from the table the rows after the last known position. */
function createReaderBySeq(client: pg.Client) {
  const found = { seq: 0, created: 0, gaps: 0, backwards: 0, polls: 0 };
  return {
    found,
    async readNew() {
      found.polls += 1;
      const { rows } = await client.query<{ seq: string; created: string }>(
        'SELECT seq, created_at AS created FROM events WHERE seq > $1 ORDER BY seq',
        [found.seq],
      );
      for (const { seq, created } of rows) {
        if (Number(seq) !== found.seq + 1) found.gaps += 1;
        if (Number(created) < found.created) found.backwards += 1;
        found.seq = Number(seq);
        found.created = Number(created);
      }
    },
  };
}

it('W7: with two writers the log is walked exactly once and never grows below what a follower has seen', async () => {
  const database = await createTestDatabase();
  const writers = [await spawnServer(database.environment), await spawnServer(database.environment)];
  const addresses = writers.map((writer) => writer.address);
  let reader: SpawnedServer = await spawnServer(database.environment);
  const restart = async () => {
    await reader.stop('SIGKILL');
    reader = await spawnServer(database.environment);
  };
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const appending = startAppending({ addresses: () => addresses, eventsPerSecond: EVENTS_PER_SECOND });
    const byCreated = createReaderByCreated(addresses);
    const bySeq = createReaderBySeq(client);
    const followers = [follow(byCreated.readNew), follow(bySeq.readNew)];
    await until(() => appending.appended.length >= EVENTS_BEFORE, 120_000);
    const walks = await walkUnderLoad({ address: () => reader.address, restart }, appending);
    const eventsPerSecond = await appending.stop();
    for (const follower of followers) follower.stop();
    await Promise.all(followers.map((follower) => follower.finished));
    const stored = (await query(database.url, 'SELECT id FROM events')).map(({ id }): string => id);
    const missed = stored.filter((id) => !byCreated.seen.has(id)).length;
    const { gaps, backwards, seq } = bySeq.found;
    const lost = walks.lost + missed + gaps + backwards;
    const pass = lost + walks.repeated + walks.disordered === 0;
    report({
      id: `W7 with two writers at ${eventsPerSecond}/s`,
      seed: 0,
      n: walks.walked,
      lost,
      dup: walks.repeated,
      pass,
    });
    expect(walks).toMatchObject({ lost: 0, repeated: 0, disordered: 0 });
    expect({ missed, gaps, backwards }).toEqual({ missed: 0, gaps: 0, backwards: 0 });
    expect(seq).toBe(stored.length);
    expect(stored.length).toBe(appending.appended.length);
    // No credential or process of the senders was ended, so nothing may be refused.
    expect(appending.sender.refusals).toEqual({ cut: 0, unavailable: 0, wrong: [] });
    expect(walks.restarts).toBeGreaterThan(1);
    expect(walks.ties, 'events of one instant').toBeGreaterThan(isFullTier ? 1_000 : 250);
    expect(walks.appendedMeanwhile, 'events appended during walks').toBeGreaterThan(EVENTS_PER_SECOND / 2);
    expect(byCreated.polls(), 'looks at what was created').toBeGreaterThan(10);
    expect(bySeq.found.polls, 'looks at positions').toBeGreaterThan(10);
  } finally {
    await client.end();
    await Promise.all([...writers, reader].map((server) => server.stop('SIGKILL')));
    await database.remove();
  }
});
