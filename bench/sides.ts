import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { mintApiKey, mintProjectKey } from '../src/domain/secrets.ts';
import type { Bench } from './bench.ts';
import { keyPrefix } from './load/requests.ts';
import { createDirectory, launch, type Program } from './program.ts';

/** The keys a server is told to accept, so that the generator can present them. */
export type Keys = { readonly projectKey: string; readonly adminKey: string };

export type LimitName = 'http' | 'grpc' | 'refuse';

const readyMs = 30_000;

export function mintKeys(): Keys {
  return {
    projectKey: mintProjectKey(keyPrefix, randomBytes).token,
    adminKey: mintApiKey(keyPrefix, randomBytes).token,
  };
}

/** A fresh folder for one server: its data apart from its log, so that the one can be weighed without the other. */
export function createDataFolder(): { root: string; data: string } {
  const root = createDirectory();
  const data = join(root, 'data');
  mkdirSync(data);
  return { root, data };
}

/** Starts a limit program of this folder on a database of its own. */
export function startLimit(name: LimitName, mode: readonly string[], folder = createDataFolder()): Promise<Program> {
  return launch({
    name: `limit/${name}.ts`,
    entry: join(import.meta.dirname, 'limit', `${name}.ts`),
    args: [join(folder.data, 'limit.db'), ...mode],
    env: inheritedEnv(),
    logFile: join(folder.root, 'log'),
  });
}

/** Starts the server with its defaults and waits for /readyz; `readyAt` is performance.now() of the first 200. */
export async function startServer(
  bench: Bench,
  keys: Keys,
  folder = createDataFolder(),
): Promise<Program & { readyAt: number }> {
  if (!existsSync(bench.serverEntry)) throw new Error(`There is no server at ${bench.serverEntry}.`);
  const program = await launch({
    name: 'the server',
    entry: bench.serverEntry,
    args: [],
    env: {
      ...inheritedEnv(),
      SPANDREL_PORT: '0',
      SPANDREL_DATABASE_URL: `sqlite:${join(folder.data, 'spandrel.db')}`,
      SPANDREL_BOOTSTRAP_PROJECT_KEY: keys.projectKey,
      SPANDREL_BOOTSTRAP_ADMIN_KEY: keys.adminKey,
    },
    logFile: join(folder.root, 'log'),
  });
  return { ...program, readyAt: await waitUntilReady(program) };
}

/** Settings of whoever runs the bench must not tilt it. */
function inheritedEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SPANDREL_')));
}

async function waitUntilReady(program: Program): Promise<number> {
  while (performance.now() - program.spawnedAt < readyMs) {
    if ((await readStatus(program.port, '/readyz')) === 200) return performance.now();
    await delay(1);
  }
  throw new Error(`${program.name} never answered 200 on /readyz:\n${program.lastWords()}`);
}

function readStatus(port: number, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  }).on('error', reject);
  return promise;
}
