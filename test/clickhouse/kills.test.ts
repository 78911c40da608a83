import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { openClickHouse } from '../../src/storage/clickhouse/client.ts';
import { openStore } from '../../src/storage/open.ts';
import { PROJECT } from '../storage/conformance/samples.ts';
import { quietLog } from '../storage/quiet-log.ts';
import { startCluster } from '../support/postgres.ts';
import { query } from '../support/postgres-databases.ts';
import { temporaryFolder, until } from '../support/temp.ts';
import { startEngine } from './engine.ts';
import { inputOf, numberedTraceId } from './killed-traces.ts';

const KILLS = 12;
const KILLED_AFTER_MAX_MS = 600;
/** Numbers of the traces of one process. */
const NUMBERS = 1_000_000;

/** What was begun and done with a trace. */
type Known = { begun: number; done: number; isRemoving: boolean; isRemoved: boolean };

it('loses and mixes up no text, whatever is killed: the server, ClickHouse or PostgreSQL', async () => {
  const [folder, cluster] = [temporaryFolder(), await startCluster()];
  let engine = await startEngine(folder.path);
  const addresses = { url: await cluster.createDatabase(), telemetryUrl: `${engine.url}/default` };
  const known = new Map<number, Known>();
  let moving = startMoving(addresses, NUMBERS, known);
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      await moving.answered();
      await delay(Math.random() * KILLED_AFTER_MAX_MS);
      if (kill % 3 === 0) {
        await moving.kill();
        moving = startMoving(addresses, (kill + 2) * NUMBERS, known);
      } else if (kill % 3 === 1) {
        await engine.stop('SIGKILL');
        engine = await startEngine(folder.path, engine.port);
      } else {
        await cluster.stop('immediate');
        await cluster.start();
      }
    }
    await moving.answered();
    await moving.kill();
    expect(known.size).toBeGreaterThan(KILLS * 3);
    await expectMoved(addresses, known);
    await expectIndexed(addresses);
  } finally {
    await moving.kill();
    await engine.stop('SIGTERM');
    await cluster.remove();
    folder.remove();
  }
});

/** Every text is in ClickHouse, as it was sent. */
async function expectMoved(addresses: Addresses, known: ReadonlyMap<number, Known>): Promise<void> {
  const store = await openStore({
    ...{ ...addresses, log: quietLog },
    queueMaxBytes: 64 * 1024 * 1024,
    moveTexts: { afterMs: 0 },
  });
  for (const { step } of store.upkeep) while ((await step()) === 'more');
  const [left] = await query(addresses.url, 'SELECT count(*) AS count FROM spans WHERE octet_length(input) > 512');
  expect(Number(left?.count)).toBe(0);
  for (const [number, each] of known) await expectKept(store, number, each);
  await store.close();
}

type Addresses = { readonly url: string; readonly telemetryUrl: string };

/** Notes in `known` what the process says. */
function startMoving({ url, telemetryUrl }: Addresses, first: number, known: Map<number, Known>) {
  const entry = join(import.meta.dirname, 'moving-process.ts');
  const child: ChildProcess = spawn(process.execPath, [entry, url, telemetryUrl, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let answers = 0;
  if (child.stdout === null) throw new Error('the process has no output');
  const lines = createInterface(child.stdout);
  const read = once(lines, 'close');
  lines.on('line', (line) => {
    const [state, act, number = '', version] = line.split(' ');
    const each = known.get(Number(number)) ?? { begun: 0, done: 0, isRemoving: false, isRemoved: false };
    known.set(Number(number), each);
    const isDone = state === 'done';
    if (isDone) answers += 1;
    if (act === 'remove') each[isDone ? 'isRemoved' : 'isRemoving'] = true;
    else each[isDone ? 'done' : 'begun'] = Number(version);
  });
  return {
    /** Waits until it was answered a few times more. */
    async answered(): Promise<void> {
      const enough = answers + 5;
      await until(() => answers >= enough || child.exitCode !== null);
      expect(child.exitCode).toBeNull();
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await Promise.all([ended, read]);
    },
  };
}

async function expectKept(store: Store, number: number, known: Known): Promise<void> {
  const found = await store.traces.find(PROJECT.number, numberedTraceId(number));
  if (found === null) return expect([number, known.done === 0 || known.isRemoving]).toEqual([number, true]);
  expect([number, known.isRemoved]).toEqual([number, false]);
  const trace = { ...found, projectNumber: PROJECT.number };
  const order = await store.traces.spanOrder(trace, { after: null, limit: 10 });
  const spans = await store.traces.spans(
    trace,
    order.map(({ id }) => id),
  );
  const versions = [1, 2].filter((version) => version >= known.done && version <= known.begun);
  const texts = spans.map(({ inputJson, outputJson }) => [inputJson, outputJson]);
  const possible = versions.map((version) => [[inputOf(number, version), inputOf(-number, version)]]);
  expect(possible).toContainEqual(texts);
}

/** ClickHouse has every trace of the database once, and no other. */
async function expectIndexed({ url, telemetryUrl }: Addresses): Promise<void> {
  const clickHouse = openClickHouse(telemetryUrl);
  const indexed = await clickHouse.rows<{ sequence: number }>('SELECT sequence FROM traces FINAL ORDER BY sequence');
  const stored = await query(
    url,
    'SELECT sequence::double precision AS sequence FROM traces WHERE project_number > 0 ORDER BY sequence',
  );
  expect(indexed).toEqual(stored);
  await clickHouse.close();
}
