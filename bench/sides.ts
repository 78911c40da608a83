import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { mintApiKey, mintProjectKey } from '../src/domain/secrets.ts';
import type { Bench } from './bench.ts';
import { keyPrefix } from './load/requests.ts';
import { createDirectory, type Lifetime, launch, type Program } from './program.ts';

/** The keys that a server accepts, for the generator, and the secret of its cursors. */
export type Keys = { readonly projectKey: string; readonly adminKey: string; readonly secret: string };

/** The folders of one server: data and log are separate, so that the data can be measured alone. */
export type Workspace = {
  readonly root: string;
  readonly data: string;
  readonly databaseUrl: string;
  /** The database in ClickHouse that has its traces. */
  readonly telemetryUrl?: string;
  /** Node's compile cache; by default the user's. */
  readonly codeCache?: string;
};

export type LimitName =
  | 'http'
  | 'grpc'
  | 'otlp'
  | 'refuse'
  | 'evaluate'
  | 'page'
  | 'insert'
  | 'deliver'
  | 'post'
  | 'provider'
  | 'proxy'
  | 'portkey';

const readyMs = 30_000;

export function mintKeys(): Keys {
  return {
    projectKey: mintProjectKey(keyPrefix, randomBytes).token,
    adminKey: mintApiKey(keyPrefix, randomBytes).token,
    secret: randomBytes(32).toString('hex'),
  };
}

/** Creates a folder for one server, with its database unless a URL is given. */
export function createWorkspace(lifetime: Lifetime = 'row', databaseUrl?: string): Workspace {
  const root = createDirectory(lifetime);
  const data = join(root, 'data');
  mkdirSync(data);
  return { root, data, databaseUrl: databaseUrl ?? `sqlite:${join(data, 'spandrel.db')}` };
}

/** Starts a limit program of this folder on a database of its own. */
export function startLimit(name: LimitName, mode: readonly string[], workspace = createWorkspace()): Promise<Program> {
  return startLimitOn(name, [join(workspace.data, 'limit.db'), ...mode], workspace);
}

/** Starts a limit program on a database that exists. */
export function startLimitOn(
  name: LimitName,
  args: readonly string[],
  workspace = createWorkspace(),
): Promise<Program> {
  return launch({
    name: `limit/${name}.ts`,
    entry: join(import.meta.dirname, 'limit', `${name}.ts`),
    args,
    env: inheritedEnv(),
    logFile: join(workspace.root, 'log'),
  });
}

/** Starts the server with its defaults and waits for /readyz; `readyAt` is performance.now() of the first 200. */
export async function startServer(
  bench: Bench,
  keys: Keys,
  workspace = createWorkspace(),
  nodeOptions: readonly string[] = [],
): Promise<Program & { readyAt: number }> {
  if (!existsSync(bench.serverEntry)) throw new Error(`There is no server at ${bench.serverEntry}.`);
  const program = await launch({
    name: 'the server',
    entry: bench.serverEntry,
    nodeOptions: [...(readStartScript(bench.serverEntry).match(/--\S+/g) ?? []), ...nodeOptions],
    args: [],
    env: { ...readStartVariables(bench.serverEntry), ...serverEnv(keys, workspace) },
    logFile: join(workspace.root, 'log'),
  });
  return { ...program, readyAt: await waitUntilReady(program) };
}

/** The checkout's `npm start`. */
function readStartScript(entry: string): string {
  return String(JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')).scripts.start);
}

/** The environment variables that it sets. */
function readStartVariables(entry: string): NodeJS.ProcessEnv {
  const [variables = ''] = readStartScript(entry).split('exec ');
  return Object.fromEntries(variables.split(' ').flatMap((text) => (text === '' ? [] : [text.split('=')])));
}

/** The settings a server starts with. */
export function serverEnv(keys: Keys, workspace: Workspace): NodeJS.ProcessEnv {
  return {
    ...inheritedEnv(),
    SPANDREL_PORT: '0',
    SPANDREL_DATABASE_URL: workspace.databaseUrl,
    ...(workspace.telemetryUrl === undefined ? {} : { SPANDREL_TELEMETRY_URL: workspace.telemetryUrl }),
    ...(workspace.codeCache === undefined ? {} : { NODE_COMPILE_CACHE: workspace.codeCache }),
    SPANDREL_SECRET: keys.secret,
    SPANDREL_BOOTSTRAP_PROJECT_KEY: keys.projectKey,
    SPANDREL_BOOTSTRAP_ADMIN_KEY: keys.adminKey,
    // The address of the bench's receivers and provider; the default allows only public addresses over https.
    SPANDREL_WEBHOOK_ALLOW: '127.0.0.1',
    SPANDREL_GATEWAY_ALLOW: '127.0.0.1',
  };
}

/** Drops settings of the shell, which affect results. */
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
