import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openClickHouse } from '../src/storage/clickhouse/client.ts';
import { createDirectory, launch, type Program } from './program.ts';

const tests = join(import.meta.dirname, '..', 'test', 'clickhouse');
let started: Promise<{ readonly address: string; readonly program: Program | null }> | undefined;
let databases = 0;

/** The server of SPANDREL_TEST_CLICKHOUSE_URL, or the embedded one of the tests, for all rows of a run. */
function openServer() {
  started ??= start();
  return started;
}

async function start() {
  const known = process.env.SPANDREL_TEST_CLICKHOUSE_URL;
  if (known !== undefined) return { address: known.replace(/\/+$/, ''), program: null };
  if (!existsSync(join(tests, 'node_modules'))) {
    throw new Error('There is no ClickHouse: npm install --no-save --prefix test/clickhouse');
  }
  const root = createDirectory('run');
  const entry = join(tests, 'server.ts');
  const args = [join(root, 'data')];
  const logFile = join(root, 'log');
  const program = await launch({ name: 'ClickHouse', entry, args, env: process.env, logFile, lifetime: 'run' });
  return { address: `clickhouse://127.0.0.1:${program.port}`, program };
}

/** Creates an empty database. Returns its address. */
export async function createTelemetryDatabase(): Promise<string> {
  const { address } = await openServer();
  databases += 1;
  const name = `bench_${process.pid}_${databases}`;
  await using(`${address}/default`, ({ command }) => command(`CREATE DATABASE ${name}`));
  return `${address}/${name}`;
}

/** Of the parts of its tables. */
export async function readTelemetryBytes(url: string): Promise<number> {
  const sql = 'SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = currentDatabase()';
  const [row] = await using(url, ({ rows }) => rows<{ bytes: number }>(sql));
  return row?.bytes ?? 0;
}

async function using<T>(url: string, body: (clickHouse: ReturnType<typeof openClickHouse>) => Promise<T>): Promise<T> {
  const clickHouse = openClickHouse(url);
  try {
    return await body(clickHouse);
  } finally {
    await clickHouse.close();
  }
}

export async function closeClickHouse(): Promise<void> {
  await (await started)?.program?.stop();
}
