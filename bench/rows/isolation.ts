import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Bench, Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { type Lags, openLagReceiver } from '../load/lag.ts';
import { createEndpoint } from '../load/webhooks.ts';
import { median } from '../machine.ts';
import { launch, type Program } from '../program.ts';
import { createPlace, type Keys, mintKeys, startServer } from '../sides.ts';

const dead = 999;
// The silent ones are known to be dead after three attempts of 10 s each; before that the start of all is measured.
const settleSeconds = 35;
const warmUpSeconds = 2;
const costMax = 1.2;
/** How many endpoints are created at once. */
const creations = 9;

/** What a receiver sees with the default delay, and what the server itself needs. */
const variants = [
  { name: 'isolation', draft: {} },
  { name: 'isolation-no-delay', draft: { max_batch_delay_ms: 0 } },
];

export const isolation: Row = {
  name: 'isolation',
  about: `p99 from commit to receipt at one healthy endpoint beside ${dead} dead ones, against the healthy one alone`,
  secondsMax: 1_200,
  async run(bench) {
    if (bench.calibrate) return [];
    const figures: Figure[] = [];
    for (const variant of variants) figures.push(await compareLags(bench, variant));
    return figures;
  },
};

async function compareLags(bench: Bench, { name, draft }: (typeof variants)[number]): Promise<Figure> {
  const deadEnds = await startDeadEnds();
  const alone = await openSide(bench, draft);
  const beside = await openSide(bench, draft);
  await createDead(beside, { deadEnds, draft });
  const atOnset = await beside.measure(settleSeconds);
  bench.detail(`  ${name}, while ${dead} endpoints begin to fail: ${describe(atOnset)}`);
  const rounds: { readonly alone: Lags; readonly beside: Lags }[] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    // What one server still has to do for the dead must not burden the other.
    pause(beside, true);
    await alone.measure(warmUpSeconds);
    const reference = await alone.measure(bench.secondsPerRound);
    pause(beside, false);
    await beside.measure(warmUpSeconds);
    const ours = await beside.measure(bench.secondsPerRound);
    bench.detail(`  ${name} round ${round}: alone ${describe(reference)}; beside ${dead} dead ${describe(ours)}`);
    rounds.push({ alone: reference, beside: ours });
  }
  for (const side of [alone, beside]) await side.close();
  await deadEnds.stop();
  const reference = median(rounds.map((each) => each.alone.p99Ms));
  const value = median(rounds.map((each) => each.beside.p99Ms));
  return judge({ name, value, unit: 'ms', reference }, { of: 'ratio', atMost: costMax });
}

function describe({ p50Ms, p99Ms, events }: Lags): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms of ${events} events`;
}

type Side = {
  readonly server: Program;
  readonly keys: Keys;
  measure(seconds: number): Promise<Lags>;
  close(): Promise<void>;
};

/** A server with one healthy endpoint. */
async function openSide(bench: Bench, draft: object): Promise<Side> {
  const keys = mintKeys();
  const server = await startServer(bench, keys);
  const receiver = await openLagReceiver();
  await createEndpoint(server.port, keys, { ...draft, url: `http://127.0.0.1:${receiver.port}/` });
  return {
    server,
    keys,
    measure: (seconds) => receiver.measure({ port: server.port, projectKey: keys.projectKey }, seconds),
    async close() {
      receiver.close();
      await server.stop();
    },
  };
}

function pause({ server }: Side, isPaused: boolean): void {
  for (const pid of server.pids) process.kill(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
}

function startDeadEnds(): Promise<Program> {
  return launch({
    name: 'load/dead-ends.ts',
    entry: join(import.meta.dirname, '..', 'load', 'dead-ends.ts'),
    args: [],
    env: process.env,
    logFile: join(createPlace().root, 'log'),
  });
}

type Dead = { readonly deadEnds: Program; readonly draft: object };

/** A third each: nobody listens, no answer ever comes, every answer is 500. */
async function createDead({ server, keys }: Side, { deadEnds, draft }: Dead): Promise<void> {
  const closedPort = await findClosedPort();
  const urls = [
    `http://127.0.0.1:${closedPort}/`,
    `http://127.0.0.1:${deadEnds.port}/silent`,
    `http://127.0.0.1:${deadEnds.port}/`,
  ];
  let created = 0;
  const create = async (): Promise<void> => {
    while (created < dead) {
      created += 1;
      await createEndpoint(server.port, keys, { ...draft, url: urls[created % urls.length] });
    }
  };
  await Promise.all(Array.from({ length: creations }, create));
}

function findClosedPort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => resolve(port));
  });
  return promise;
}
