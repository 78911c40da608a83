/** Measures the server against its reference programs: `npm run bench`, see README.md in this folder. */

import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Bench, PREFIXES, type Row } from './bench.ts';
import { closeClickHouse } from './clickhouse.ts';
import { closeCluster } from './cluster.ts';
import { type Figure, formatTable } from './figure.ts';
import { describeMachine } from './machine.ts';
import { cleanUp, createDirectory } from './program.ts';
import { analytics } from './rows/analytics.ts';
import { authRefuse } from './rows/auth-refuse.ts';
import { budget } from './rows/budget.ts';
import { chMove } from './rows/ch-move.ts';
import { consoleFirst, consoleTrace } from './rows/console.ts';
import { consoleFind, consoleOverview } from './rows/console-find.ts';
import { deliverBatch, deliverClient, deliverSingle } from './rows/deliver.ts';
import { disk, wal } from './rows/disk.ts';
import { evaluate } from './rows/evaluate.ts';
import { eventsPage } from './rows/events-page.ts';
import { gateway, gatewayStream } from './rows/gateway.ts';
import { gatewayLedger } from './rows/gateway-ledger.ts';
import { idle } from './rows/idle.ts';
import { indexing } from './rows/indexing.ts';
import { ingestBatch, ingestGrpc, ingestJson } from './rows/ingest.ts';
import { ingestUnderRead } from './rows/ingest-under-read.ts';
import { isolation } from './rows/isolation.ts';
import { monitor } from './rows/monitor.ts';
import { otlpGrpc, otlpHttp } from './rows/otlp.ts';
import { pgIngest, pgScale } from './rows/postgres.ts';
import { grpcRead, restRead } from './rows/read.ts';
import { ingestUnderSearch, search } from './rows/search.ts';
import { spend } from './rows/spend.ts';
import { start } from './rows/start.ts';
import { steady } from './rows/steady.ts';
import { tail } from './rows/tail.ts';
import { traceRead } from './rows/trace-read.ts';
import { triggers } from './rows/triggers.ts';

const rows: readonly Row[] = [
  ingestJson,
  ingestBatch,
  ingestGrpc,
  budget,
  restRead,
  grpcRead,
  traceRead,
  search,
  ingestUnderRead,
  ingestUnderSearch,
  indexing,
  tail,
  otlpHttp,
  otlpGrpc,
  analytics,
  authRefuse,
  evaluate,
  monitor,
  triggers,
  gateway,
  gatewayStream,
  gatewayLedger,
  eventsPage,
  deliverSingle,
  deliverBatch,
  deliverClient,
  isolation,
  spend,
  start,
  idle,
  steady,
  disk,
  wal,
  consoleFirst,
  consoleTrace,
  consoleFind,
  consoleOverview,
  pgIngest,
  pgScale,
  chMove,
];
const rowSecondsMax = 300;

process.on('exit', () => cleanUp('run'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    strict: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    calibrate: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    events: { type: 'string', default: '10000000' },
    traces: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'sqlite' },
    server: { type: 'string', default: join(import.meta.dirname, '..', 'src', 'launch.js') },
  },
});

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};
const bench: Bench = {
  rounds: readPositive('rounds', options.rounds),
  secondsPerRound: readPositive('seconds', options.seconds),
  serverEntry: resolve(options.server),
  calibrate: options.calibrate,
  events: Math.ceil(readPositive('events', options.events)),
  traces: Math.ceil(readPositive('traces', options.traces)),
  store: readStore(options.store),
  say,
  detail: options.verbose ? say : () => {},
};
const exitCode = await main();
await closeCluster();
await closeClickHouse();
process.exit(exitCode);

async function main(): Promise<number> {
  const unknown = names.filter((name) => !rows.some((row) => row.name === name));
  if (unknown.length > 0) {
    say(
      `Unknown: ${unknown.join(', ')}. The rows are:\n${rows.map((row) => `  ${row.name}: ${row.about}`).join('\n')}`,
    );
    return 1;
  }
  for (const line of describeMachine(createDirectory())) say(line);
  if (bench.calibrate) say('CALIBRATION: both sides are the reference, the ratios must come out near 1.');
  const figures: Figure[] = [];
  let broken = 0;
  for (const row of rows.filter(({ name }) => names.length === 0 || names.includes(name))) {
    say(`${row.name}: ${row.about}`);
    try {
      const measured = await runBounded(row);
      if (measured.length === 0) say('  nothing to calibrate here');
      for (const figure of measured) {
        figures.push(figure);
        process.stdout.write(`${JSON.stringify(figure)}\n`);
      }
    } catch (error) {
      broken += 1;
      say(`FAILED to measure ${row.name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      cleanUp('row');
    }
  }
  say(`\n${formatTable(figures)}`);
  const missed = figures.filter((figure) => !figure.pass);
  if (missed.length > 0) say(`\nMissed: ${missed.map((figure) => figure.name).join(', ')}`);
  return broken > 0 || (options.strict && missed.length > 0) ? 1 : 0;
}

/** Bounds the time of a row; the caller kills its programs. */
function runBounded(row: Row): Promise<Figure[]> {
  const { secondsMax = rowSecondsMax } = row;
  const tooLong = delay(secondsMax * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`It took longer than ${secondsMax} s.`);
  });
  return Promise.race([row.run(bench), tooLong]);
}

function readPositive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a positive number, not ${text}.`);
  return value;
}

function readStore(text: string): Bench['store'] {
  const stores = Object.keys(PREFIXES) as Bench['store'][];
  const store = stores.find((each) => each === text);
  if (store === undefined) throw new Error(`--store must be one of ${stores.join(', ')}, not ${text}.`);
  return store;
}
