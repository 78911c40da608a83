/**
 * Packs the server, installs the tarball into an empty folder as somebody without the repository does, starts it with npx,
 * and sends the first trace, all within a minute. Needs the registry of npm.
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findFreePort } from '../support/port.ts';
import { until } from '../support/temp.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const MINUTE_MS = 60_000;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

/** Nothing of npm that runs this, and none of the tools of this folder. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|SPANDREL_|NODE_COMPILE_CACHE|NODE$|INIT_CWD)/i.test(name)),
);
environment.PATH = (environment.PATH ?? '')
  .split(delimiter)
  .filter((path) => !/node_modules|node-gyp-bin/.test(path))
  .join(delimiter);

const folder = mkdtempSync(join(tmpdir(), 'spandrel-package-'));
const empty = join(folder, 'empty');
mkdirSync(empty);
try {
  execFileSync(process.execPath, [join(ROOT, 'scripts/pack.ts'), folder], { stdio: ['ignore', 'ignore', 'ignore'] });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('nothing was packed');
  const startedMs = performance.now();
  const passed = () => `after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  npm(['install', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', join(folder, tarball)]);
  process.stdout.write(`installed ${passed()}\n`);
  await firstTrace(passed);
  if (performance.now() - startedMs > MINUTE_MS) throw new Error(`the first trace was there only ${passed()}`);
  process.stdout.write('the package holds\n');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function firstTrace(passed: () => string): Promise<void> {
  const port = await findFreePort();
  const address = `http://127.0.0.1:${port}`;
  const env = { ...environment, SPANDREL_PORT: String(port) };
  const server = spawn('npx', ['spandrel'], { cwd: empty, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  try {
    await until(() => {
      if (server.exitCode !== null) throw new Error(`npx ended with ${server.exitCode}`);
      return output.includes('"msg":"ready"');
    }, MINUTE_MS);
    const [, key = ''] = /SPANDREL_PROJECT_KEY=(\S+)/.exec(output) ?? [];
    const headers = { 'x-auth-token': key, 'content-type': 'application/json' };
    const now = Date.now();
    const span = { type: 'llm', span_id: 'b7ad6b7169203331', timestamps: { started_at: now - 1, finished_at: now } };
    const body = JSON.stringify({ trace_id: TRACE_ID, spans: [span] });
    await require(fetch(`${address}/readyz`));
    await require(fetch(`${address}/api/collector`, { method: 'POST', headers, body }));
    await require(fetch(`${address}/api/traces/${TRACE_ID}`, { headers }));
    for (const page of ['/', '/docs', '/openapi.json']) await require(fetch(address + page));
    process.stdout.write(`the first trace is there ${passed()}\n`);
    execFileSync('npx', ['spandrel', 'healthcheck'], { cwd: empty, env });
  } catch (error) {
    process.stderr.write(output);
    throw error;
  } finally {
    server.kill('SIGTERM');
  }
  // npx ends at once, and the server once it has noticed.
  await until(() => output.includes('"msg":"stopped"'));
}

async function require(asked: Promise<Response>): Promise<void> {
  const response = await asked;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text.slice(0, 200)}`);
}

function npm(args: readonly string[]): void {
  execFileSync('npm', args, { cwd: empty, env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
}
