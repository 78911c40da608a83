import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Bench, Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { type Lags, openLagReceiver } from '../load/lag.ts';
import { createEndpoint } from '../load/webhooks.ts';
import { median } from '../machine.ts';
import { launch, type Program } from '../program.ts';
import { createWorkspace, type Keys, mintKeys, startServer } from '../sides.ts';

const dead = 999;
// Silent receivers count as dead after three attempts of 10 s; until then the start is measured.
const settleSeconds = 35;
const warmUpSeconds = 2;
const costMax = 1.2;
/** The number of concurrent create requests. */
const creations = 9;

type Variant = { readonly name: string; readonly draft: object };

/** With the default batch delay, and without it: the server's own time. */
const variants: readonly Variant[] = [
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

/**
 * Measures alone, beside the dead, and alone again, to reveal a machine that gets slower. Never both servers at once:
 * work for the dead endpoints would slow the other one, and a paused server would resume with all of it due.
 */
async function compareLags(bench: Bench, variant: Variant): Promise<Figure> {
  const before = await measureAlone(bench, variant);
  const beside = await measureBeside(bench, variant);
  const after = await measureAlone(bench, variant);
  const reference = median([...before, ...after]);
  const measured = { name: variant.name, value: median(beside), unit: 'ms', reference };
  return judge(measured, { of: 'ratio', atMost: costMax });
}

async function measureAlone(bench: Bench, variant: Variant): Promise<readonly number[]> {
  const side = await openSide(bench, variant.draft);
  await side.measure(warmUpSeconds);
  const p99s = await measureRounds(bench, side, `${variant.name} alone`);
  await side.close();
  return p99s;
}

async function measureBeside(bench: Bench, { name, draft }: Variant): Promise<readonly number[]> {
  const deadEnds = await startDeadEnds();
  const side = await openSide(bench, draft);
  await createDead(side, { deadEnds, draft });
  bench.say(`  ${name}, while ${dead} endpoints begin to fail: ${describe(await side.measure(settleSeconds))}`);
  const p99s = await measureRounds(bench, side, `${name} beside ${dead} dead`);
  await side.close();
  await deadEnds.stop();
  return p99s;
}

async function measureRounds(bench: Bench, side: Side, title: string): Promise<readonly number[]> {
  const p99s: number[] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    const lags = await side.measure(bench.secondsPerRound);
    bench.detail(`  ${title}, round ${round}: ${describe(lags)}`);
    p99s.push(lags.p99Ms);
  }
  return p99s;
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

function startDeadEnds(): Promise<Program> {
  return launch({
    name: 'load/dead-ends.ts',
    entry: join(import.meta.dirname, '..', 'load', 'dead-ends.ts'),
    args: [],
    env: process.env,
    logFile: join(createWorkspace().root, 'log'),
  });
}

type Dead = { readonly deadEnds: Program; readonly draft: object };

/** A third each: closed port, no answer, status 500. */
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
