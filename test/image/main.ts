/**
 * Builds the image and runs it as platforms do: a random user, a read-only root, little memory. Sends traces, stops it
 * with SIGTERM while more arrive, starts it again, and reads back everything that was acknowledged.
 */

import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../support/port.ts';
import { PROJECT_KEY } from '../support/server.ts';
import { until } from '../support/temp.ts';
import { type Containers, createContainers, describeMissing } from './tools.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const IMAGE = 'localhost/spandrel';
const IMAGE_MAX_MB = 260;
const USER = 12_345;
const GROUP = 54_321;
const MEMORY = '256m';
const TRACES = 10_000;
const SENDERS = 32;
const STOP_MAX_MS = 15_000;

const missing = describeMissing();
if (missing !== null) {
  process.stderr.write(`test:image cannot run here: ${missing}\n`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'spandrel-image-'));
const containers = createContainers(folder);
try {
  report('bases', () => containers.makeBases());
  report('image', () => containers.build(ROOT, IMAGE, { BASE: 'localhost/base', BUILD_BASE: 'localhost/build-base' }));
  const megabytes = Math.ceil(containers.unpackedBytes(IMAGE) / 1_000_000);
  require(megabytes <= IMAGE_MAX_MB, `the image has ${megabytes} MB unpacked, at most ${IMAGE_MAX_MB}`);
  await runThrough(containers);
  process.stdout.write('the image holds\n');
} finally {
  containers.podman(['rm', '--all', '--force', '--time', '1']);
  containers.podman(['image', 'unmount', '--all', '--force']);
  rmSync(folder, { recursive: true, force: true });
}

async function runThrough(running: Containers): Promise<void> {
  const data = join(folder, 'data');
  mkdirSync(data);
  chownSync(data, USER, GROUP);
  const port = await findFreePort();
  const address = `http://127.0.0.1:${port}`;
  stopEarly(running, data, port);
  const container = await start(running, data, port);
  process.stdout.write(`${running.podman(['exec', container, 'node', '/app/src/launch.js', 'doctor'])}\n`);
  const acknowledged: string[] = [];
  const sending = sendTraces(address, acknowledged);
  await until(() => acknowledged.length >= TRACES, 300_000);
  // Its process has its share of the memory, too.
  running.podman(['exec', container, 'node', '/app/src/launch.js', 'healthcheck']);
  const stoppedMs = performance.now();
  running.podman(['kill', '--signal', 'TERM', container]);
  const code = running.podman(['wait', container]);
  const tookMs = Math.round(performance.now() - stoppedMs);
  await sending;
  require(code === '0' && tookMs < STOP_MAX_MS, `SIGTERM ended it with ${code} after ${tookMs} ms`);
  const others = readdirSync(data).filter((name) => statSync(join(data, name)).uid !== USER);
  require(others.length === 0, `all files of the data belong to ${USER}`);
  const again = await start(running, data, port);
  const lost = await findLost(address, acknowledged);
  require(lost === 0, `of ${acknowledged.length} acknowledged traces ${lost} are lost`);
  running.podman(['stop', '--time', '15', again]);
}

/** As process 1 it ends while it starts, too. */
function stopEarly(running: Containers, data: string, port: number): void {
  const container = run(running, data, port);
  // Until its process is there.
  running.podman(['exec', container, 'node', '--version']);
  running.podman(['kill', '--signal', 'TERM', container]);
  const startedMs = performance.now();
  const code = running.podman(['wait', container]);
  const tookMs = Math.round(performance.now() - startedMs);
  require(['0', '143'].includes(code) && tookMs < STOP_MAX_MS, `SIGTERM at the start ended it with ${code}`);
}

function run({ podman }: Containers, data: string, port: number): string {
  const limits = ['--memory', MEMORY, '--ulimit', 'nofile=20000:20000', '--ulimit', 'nproc=4096:4096'];
  const rights = ['--user', `${USER}:${GROUP}`, '--cap-drop', 'all', '--security-opt', 'no-new-privileges'];
  const settings = { SPANDREL_PORT: String(port), SPANDREL_BOOTSTRAP_PROJECT_KEY: PROJECT_KEY };
  const given = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const disk = ['--read-only', '--read-only-tmpfs=false', '--volume', `${data}:/data`];
  return podman(['run', '--detach', '--network', 'host', ...disk, ...limits, ...rights, ...given, IMAGE]);
}

/** Resolves with the container once its own health check succeeds. */
async function start(running: Containers, data: string, port: number): Promise<string> {
  const { podman } = running;
  const startedMs = performance.now();
  const container = run(running, data, port);
  try {
    await until(() => {
      try {
        return podman(['exec', container, 'node', '/app/src/launch.js', 'healthcheck']) === 'ready';
      } catch {
        return false;
      }
    });
  } catch (error) {
    process.stderr.write(podman(['logs', container]));
    throw error;
  }
  process.stdout.write(`ready after ${Math.round(performance.now() - startedMs)} ms\n`);
  return container;
}

/** Sends traces until the server stops; `acknowledged` gets their ids. */
async function sendTraces(address: string, acknowledged: string[]): Promise<void> {
  const send = async () => {
    for (;;) {
      const traceId = randomBytes(16).toString('hex');
      const isTaken = await postTrace(address, traceId).catch(() => false);
      if (!isTaken) return;
      acknowledged.push(traceId);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

async function postTrace(address: string, traceId: string): Promise<boolean> {
  const now = Date.now();
  const span = {
    type: 'llm',
    span_id: traceId.slice(0, 16),
    model: 'gpt-5',
    input: { type: 'text', value: 'Say hi. '.repeat(20) },
    metrics: { prompt_tokens: 100, completion_tokens: 150 },
    timestamps: { started_at: now - 1000, finished_at: now },
  };
  const headers = { 'x-auth-token': PROJECT_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ trace_id: traceId, spans: [span] });
  const response = await fetch(`${address}/api/collector`, { method: 'POST', headers, body });
  await response.text();
  return response.ok;
}

async function findLost(address: string, acknowledged: readonly string[]): Promise<number> {
  const waiting = [...acknowledged];
  let lost = 0;
  const read = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const response = await fetch(`${address}/api/traces/${id}`, { headers: { 'x-auth-token': PROJECT_KEY } });
      await response.text();
      if (response.status !== 200) lost += 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, read));
  return lost;
}

function report(what: string, act: () => unknown): void {
  const startedMs = performance.now();
  act();
  process.stdout.write(`${what}: ${Math.round((performance.now() - startedMs) / 1000)} s\n`);
}

function require(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`it does not hold: ${sentence}`);
  process.stdout.write(`${sentence}\n`);
}
