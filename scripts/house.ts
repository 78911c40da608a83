/**
 * Prints what a newcomer meets: how many files a trace sent to the collector and a search cross (from V8's own coverage: files
 * with a function that ran), comments of the contract that say too little, circles of imports, small files with a single user, and
 * the lines of each room. With `--files` also the files.
 */

import { randomBytes } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { createApp } from '../src/app/app.ts';
import { createLog } from '../src/cli/log.ts';
import { readConfig } from '../src/config/config.ts';
import { bootstrap } from '../src/domain/organization/bootstrap.ts';
import { readPriceList } from '../src/domain/pricing/price-list.ts';
import { createPricing } from '../src/domain/pricing/pricing.ts';
import { deriveRootKeys } from '../src/domain/secrets.ts';
import { openStore } from '../src/storage/open.ts';
import { findCircles, generatedFiles, importsOf, linesByRoom, singleUserFiles, sourceFiles } from './house/imports.ts';
import { protoComments, shortComments, WORDS_MIN } from './house/proto-comments.ts';

const FILES_MAX = 45;
// What happens to run in the background at the same time is in few of them.
const RUNS = 5;
const WARM_UPS = 50;
const QUEUE_MAX_BYTES = 64 * 1024 * 1024;

const root = new URL('..', import.meta.url);
const { address, key, stop } = await start();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
let isOver = false;
for (const [name, send] of Object.entries({ 'POST /api/collector': collect, 'POST /api/traces/search': search })) {
  for (let run = 0; run < WARM_UPS; run += 1) await send();
  const files = await crossed(send);
  isOver ||= files.length > FILES_MAX;
  console.log(`${name}: ${files.length} files, at most ${FILES_MAX}`);
  list(files);
}
session.disconnect();
await stop();
const short = shortComments(protoComments());
console.log(`comments of the contract of fewer than ${WORDS_MIN} words: ${short.length}`);
list(short);
const imports = sourceFiles().flatMap(importsOf);
console.log(`circles of imports: ${findCircles([...imports, ...generatedFiles().flatMap(importsOf)]).length}`);
const small = singleUserFiles(imports);
console.log(`files of at most 40 lines with a single user: ${small.length}`);
list(small);
for (const [room, lines] of [...linesByRoom()].sort(([, one], [, other]) => other - one))
  console.log(`${room}: ${lines} lines`);
if (isOver) process.exitCode = 1;

function list(items: readonly string[]): void {
  if (!process.argv.includes('--files')) return;
  for (const item of items) console.log(`  ${item}`);
}

/** On a store in memory, whose writer runs the same code in this thread. */
async function start() {
  const secret = randomBytes(32).toString('hex');
  const config = readConfig({ SPANDREL_PORT: '0', SPANDREL_DATABASE_URL: 'sqlite::memory:', SPANDREL_SECRET: secret });
  const log = createLog('error', process.stderr);
  const store = await openStore({ url: config.databaseUrl, queueMaxBytes: QUEUE_MAX_BYTES, log });
  const rootKeys = deriveRootKeys(secret);
  const { keyPrefixes } = config;
  const created = await bootstrap(
    { store: store.installation, rootKeys, keyPrefixes, random: randomBytes },
    config.bootstrap,
    Date.now(),
  );
  const pricing = createPricing(readPriceList());
  const deps = { config, store, rootKeys, pricing, log, clock: Date.now, random: randomBytes, tls: null };
  const app = await createApp({ ...deps, passedMs: () => performance.now() });
  return {
    address: app.address,
    key: new Map(created ?? []).get('SPANDREL_PROJECT_KEY') ?? '',
    async stop() {
      await app.stop();
      await store.close();
    },
  };
}

async function post(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-auth-token': key };
  const response = await fetch(new URL(path, address), { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function collect(): Promise<void> {
  const now = Date.now();
  const timestamps = { started_at: now - 1_000, finished_at: now };
  const metrics = { prompt_tokens: 412, completion_tokens: 57 };
  const span = { type: 'llm', span_id: randomBytes(8).toString('hex'), model: 'gpt-4o-mini', metrics, timestamps };
  const input = { type: 'text', value: 'Where is my order?' };
  await post('/api/collector', { trace_id: randomBytes(16).toString('hex'), spans: [{ ...span, input }] });
}

async function search(): Promise<void> {
  const now = Date.now();
  await post('/api/traces/search', { startDate: now - 3_600_000, endDate: now + 3_600_000, pageSize: 20 });
}

/** The files of src that every run of a request has run a function of. */
async function crossed(send: () => Promise<void>): Promise<readonly string[]> {
  const counts = new Map<string, number>();
  for (let run = 0; run < RUNS; run += 1) {
    await session.post('Profiler.takePreciseCoverage');
    await send();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    for (const { url } of ran) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  const always = [...counts].filter(([url, count]) => count === RUNS && url.startsWith(String(new URL('src/', root))));
  return always.map(([url]) => relative(root.pathname, new URL(url).pathname)).sort();
}
