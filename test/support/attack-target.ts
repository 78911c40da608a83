/** A server process under attack, a healthy client beside the attack, and the limits that both must keep. */

import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Observer, type ObserverOrders, type ObserverReport, startObserver } from './attack-observing.ts';
import { hex } from './fixtures.ts';
import { report } from './scenario.ts';
import { ADMIN_KEY, PROJECT_KEY, type SpawnedServer, spawnServer } from './server.ts';
import { callRest } from './surfaces.ts';
import { temporaryFolder, until } from './temp.ts';
import { createTestDatabase } from './test-database.ts';

/** Attackers use another address than the healthy client, which is at 127.0.0.1. */
export const ATTACKER_HOST = '127.0.0.2';
/** After an attack the address of the attackers may be refused for a while; their key is used from this one. */
const AFTERMATH_HOST = '127.0.0.3';

export type Target = {
  readonly address: string;
  readonly port: number;
  /** The key of the attackers. */
  readonly key: string;
  /** Adds a project; returns its key. */
  addKey(): Promise<string>;
  /** Restarts the server on the same database if an attack has ended it. */
  revive(): Promise<void>;
  /** Runs the attack; fails if the server breaks a limit during or after it. */
  attack(about: AttackAbout, run: (attack: Attack) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

export type AttackAbout = { readonly id: string; readonly n: number; readonly seed?: number };

export type Attack = {
  /** Resolves after this many more requests of the healthy client. */
  serves(answers: number): Promise<void>;
  /** Registers work for the attack's end. */
  closeLater(close: () => void): void;
};

const P99_MAX_MS = 250;
const STALL_MAX_MS = 100;
const RSS_MAX_BYTES = 600 * 1024 * 1024;
/** The limit relative to the figures before the attack, for busy machines. */
const BASELINE_FACTOR = 3;
const WARM_ANSWERS = 60;
const BASELINE_ANSWERS = 110;
const CALM_WITHIN_MS = 15_000;
/** Metrics that are zero while no request runs. */
const HELD = /^(spandrel_(?:requests_in_progress|requests_arriving|request_body_bytes|answer_bytes)) (\S+)$/gm;
const HELD_FIGURES = 4;

type Running = {
  readonly server: SpawnedServer;
  readonly observer: Observer;
  readonly baseline: ObserverReport;
};

type Preparation = {
  /** Fills the empty database; it may return the key of another project, whose guardrail the observer calls, too. */
  readonly prepare?: (url: string) => Promise<string | null>;
  /** Whether the observer searches and sums up its traces, too. */
  readonly searches?: boolean;
};

export async function startTarget(
  environment: { readonly [name: string]: string } = {},
  { prepare = async () => null, searches = false }: Preparation = {},
): Promise<Target> {
  const database = await createTestDatabase();
  const guardrailKey = await prepare(database.url);
  const logs = temporaryFolder();
  let launches = 0;
  const launchNext = () =>
    launch(
      { ...database.environment, ...environment },
      { logFile: join(logs.path, `${launches++}.log`), guardrailKey, searches },
    );
  let running = await launchNext();
  const revive = async () => {
    if (hasEnded(running.server)) running = await launchNext();
  };
  return {
    get address() {
      return running.server.address;
    },
    get port() {
      return running.server.port;
    },
    key: PROJECT_KEY,
    revive,
    addKey: () => createProject(running.server),
    async attack(about, run) {
      await revive();
      const { problems, figures } = await judgeAttack(running, run);
      report({ id: about.id, seed: about.seed ?? 0, n: about.n, ...figures, pass: problems.length === 0 });
      expect(problems).toEqual([]);
    },
    async close() {
      running.observer.close();
      await running.server.stop('SIGKILL');
      await database.remove();
      logs.remove();
    },
  };
}

type Launch = { readonly logFile: string } & Pick<ObserverOrders, 'guardrailKey' | 'searches'>;

async function launch(
  environment: { readonly [name: string]: string },
  { logFile, ...asks }: Launch,
): Promise<Running> {
  const server = await spawnServer(environment, logFile);
  try {
    const key = await createProject(server);
    const observer = startObserver({ address: server.address, pid: server.child.pid ?? 0, key, ...asks });
    // The first Connect call of a process loads modules.
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.address}/spandrel.v1.TraceService/GetTrace`, { method: 'POST', headers, body: '{}' });
    await observer.serves(WARM_ANSWERS);
    await observer.begin();
    await observer.serves(BASELINE_ANSWERS);
    return { server, observer, baseline: await observer.end() };
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
}

async function createProject(server: SpawnedServer): Promise<string> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const creation = { verb: 'POST', path: '/api/projects', body: { name: hex(16) }, headers };
  const { body, text } = await callRest(server.address, creation);
  if (typeof body.apiKey !== 'string') throw new Error(`no project was made: ${text}`);
  return body.apiKey;
}

function hasEnded({ child }: SpawnedServer): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function judgeAttack({ server, observer, baseline }: Running, run: (attack: Attack) => Promise<void>) {
  const closers: (() => void)[] = [];
  const problems: string[] = [];
  const ended = Promise.withResolvers<never>();
  const onExit = () => ended.reject(new Error(`the server ended: ${server.output().slice(-500)}`));
  server.child.once('exit', onExit);
  await observer.begin();
  try {
    const attack = { serves: observer.serves, closeLater: (close: () => void) => void closers.push(close) };
    await Promise.race([run(attack), ended.promise]);
  } catch (error) {
    problems.push(String(error));
  } finally {
    server.child.off('exit', onExit);
    for (const close of closers) close();
  }
  const found = await observer.end();
  if (hasEnded(server)) observer.close();
  else problems.push(...(await judgeAftermath(server, answerMaxMs(found, baseline))));
  problems.push(...judge(found, baseline));
  const figures = {
    p99: Math.round(found.p99Ms),
    rss: Math.round(found.rssMaxBytes / 1e6),
    stall: Math.round(found.stallMs),
    slowdown: Math.round(found.slowdown * 10) / 10,
  };
  return { problems, figures };
}

function judge(found: ObserverReport, baseline: ObserverReport): string[] {
  const problems = found.failures.map((failure) => `the client that means well failed: ${failure}`);
  const stallMaxMs = Math.max(STALL_MAX_MS, BASELINE_FACTOR * baseline.stallMs);
  const hold = (what: string, value: number, limit: number) => {
    if (value > limit) problems.push(`${what}: ${Math.round(value)}, at most ${Math.round(limit)}`);
  };
  hold('p99 of the client that means well in ms', found.p99Ms, answerMaxMs(found, baseline));
  hold('longest stall of the event loop in ms', found.stallMs, stallMaxMs);
  hold('resident MiB', found.rssMaxBytes / 2 ** 20, RSS_MAX_BYTES / 2 ** 20);
  return problems;
}

function answerMaxMs(found: ObserverReport, baseline: ObserverReport): number {
  return Math.max(P99_MAX_MS * found.slowdown, BASELINE_FACTOR * baseline.p99Ms);
}

/** Checks that a new connection is served and nothing is left of the attack. */
async function judgeAftermath({ address }: SpawnedServer, takesMaxMs: number): Promise<string[]> {
  const problems: string[] = [];
  try {
    const startedMs = performance.now();
    const status = await statusOf(`${address}/api/traces/none`);
    const tookMs = performance.now() - startedMs;
    if (status !== 404) problems.push(`after the attack its own key gets ${status}`);
    if (tookMs > takesMaxMs) problems.push(`after the attack an answer took ${Math.round(tookMs)} ms`);
    await until(async () => (await heldFigures(address)).length === 0, CALM_WITHIN_MS);
  } catch (error) {
    problems.push(`after the attack: ${error}; held: ${await heldFigures(address).catch(String)}`);
  }
  return problems;
}

function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { headers: { connection: 'close', 'x-auth-token': PROJECT_KEY }, localAddress: AFTERMATH_HOST };
    const sent = request(url, { ...options, timeout: CALM_WITHIN_MS }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end();
  });
}

/** The metrics of held requests and bytes that are not zero. */
export async function heldFigures(address: string): Promise<string[]> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const figures = [...text.matchAll(HELD)];
  if (figures.length !== HELD_FIGURES) throw new Error('/metrics does not tell what requests hold');
  return figures.flatMap(([, name, value]) => (Number(value) > 0 ? [`${name} ${value}`] : []));
}
