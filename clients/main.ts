/**
 * Runs the newest clients of npm against a server of this working tree, and compares what it reads with the table of
 * expected.ts: `npm run clients -- [--locked] [--record] [name…]`.
 */

import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';
import { PROJECT_KEY, spawnServer } from '../test/support/server.ts';
import { CLIENTS, type Client, type ClientName, environmentOf } from './clients.ts';
import { EXPECTED } from './expected.ts';
import { startProvider } from './provider.ts';
import { startRelay, writeRecording } from './recording.ts';
import { type ReadTrace, rowOf } from './row.ts';
import { SNIPPETS } from './snippets.ts';
import { differencesOf, type Result, writeTable } from './table.ts';

const FOLDER = new URL('./', import.meta.url);
const TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { locked: { type: 'boolean', default: false }, record: { type: 'boolean', default: false } },
});
const names = (Object.keys(CLIENTS) as ClientName[]).filter(
  (name) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
);

install();
const provider = await startProvider();
const server = await spawnServer({
  SPANDREL_DATABASE_URL: 'sqlite::memory:',
  SPANDREL_SECRET: 'of-the-clients-of-this-machine-only',
});
const relay = await startRelay(server.address);
const known = new Set<string>();
const results: Result[] = [];
for (const name of names) {
  process.stderr.write(`${name}\n`);
  results.push(await resultOf(name));
}
const broken = await brokenSnippets();
relay.close();
provider.close();
await server.stop('SIGTERM');
process.stdout.write(writeTable(results));
for (const failure of broken) process.stdout.write(`${failure}\n`);
process.exit(broken.length === 0 && results.every(({ differences }) => differences.length === 0) ? 0 : 1);

/** Installs the newest packages and writes the lock file, or only what the lock file names. */
function install(): void {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', FOLDER), 'utf8'));
  const newest = Object.keys(dependencies).map((dependency) => `${dependency}@latest`);
  execFileSync('npm', values.locked ? ['ci'] : ['install', ...newest], { cwd: FOLDER, stdio: 'inherit' });
}

function versionOf({ package: name }: Client): string {
  const manifest = readFileSync(new URL(`node_modules/${name}/package.json`, FOLDER), 'utf8');
  return JSON.parse(manifest).version;
}

async function resultOf(name: ClientName): Promise<Result> {
  const client: Client = CLIENTS[name];
  const version = versionOf(client);
  const [file, ...args] = client.program;
  const failure = await runProgram([new URL(file, FOLDER).pathname, ...args]);
  const row = rowOf(await newTraces());
  const sent = relay.take();
  if (values.record) writeRecording(`${name}-${version}`, sent);
  return { name, version, row, differences: [...failure, ...differencesOf(EXPECTED[name], row)] };
}

/** Runs a program with the environment that its users set; what it fails with. */
async function runProgram(args: readonly string[]): Promise<string[]> {
  const env = environmentOf(relay.address, provider.address);
  const options = { cwd: FOLDER, timeout: TIMEOUT_MS, env };
  try {
    // Recordings must not tell local paths, which stack traces have. OpenTelemetry also sends the command, here `node`.
    await promisify(execFile)('node', ['--stack-trace-limit=0', ...args], options);
    return [];
  } catch (error) {
    return [`the program fails: ${(error as Error).message}`];
  }
}

/** The programs of the page that fail, or send no call with its price. */
async function brokenSnippets(): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const [name, code] of positionals.length === 0 ? SNIPPETS : []) {
    const failures = await runProgram(['--input-type=module', '--eval', code]);
    const { tokens, cost } = rowOf(await newTraces());
    if (tokens !== '1000/200' || cost === null) failures.push(`tokens ${tokens}, cost ${cost}`);
    broken.push(...failures.map((failure) => `snippet of ${name}: ${failure}`));
  }
  return broken;
}

/** Those that have come since the last call, oldest first. */
async function newTraces(): Promise<readonly ReadTrace[]> {
  const headers = { 'x-auth-token': PROJECT_KEY, 'content-type': 'application/json' };
  const [endDate, body] = [Date.now() + DAY_MS, { pageSize: 100, sortBy: 'started_at', sortDirection: 'asc' }];
  const query = JSON.stringify({ startDate: endDate - 2 * DAY_MS, endDate, ...body });
  const found = await fetch(`${server.address}/api/traces/search`, { method: 'POST', headers, body: query });
  const { traces } = (await found.json()) as { readonly traces: readonly { readonly trace_id: string }[] };
  const ids = traces.map(({ trace_id: id }) => id).filter((id) => !known.has(id));
  const read = ids.map(async (id) => {
    known.add(id);
    const response = await fetch(`${server.address}/api/traces/${id}`, { headers });
    return (await response.json()) as ReadTrace;
  });
  return Promise.all(read);
}
