import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { leaveWill } from './last-will.ts';
import { NO_TURNS, readTurns, slowdown } from './turns.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
/** The variables that `npm start` sets, and what it gives to node. */
const [VARIABLES = '', ARGUMENTS = ''] = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).scripts.start.split(
  'exec node ',
);
const START_ENVIRONMENT = Object.fromEntries(
  VARIABLES.trim()
    .split(' ')
    .map((text: string) => text.split('=')),
);
/** Every spawned server has these keys, also after a restart. */
export const PROJECT_KEY = `sk-lw-${'A'.repeat(42)}2fwxgK`;
export const ADMIN_KEY = `sk-lw-${'B'.repeat(16)}_${'0'.repeat(42)}1CtB1C`;

export type SpawnedServer = {
  readonly child: ChildProcess;
  readonly address: string;
  readonly port: number;
  /** From spawn to the ready line, without waits for a processor. */
  readonly readyMs: number;
  /** All output on stdout and stderr so far. */
  output(): string;
  /** Resident bytes now. */
  residentBytes(): number;
  /** Sends the signal and waits; resolves to the exit code, null when the signal ended it. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
};

const LOOK_INTO_LOG_MS = 10;

/**
 * Starts the server process as `npm start` does, on the database of the environment. With `logFile` the log goes to a
 * file, for tests that cannot read it in time: an unread pipe blocks the writer.
 */
export function spawnServer(
  environment: { readonly [name: string]: string },
  logFile: string | null = null,
): Promise<SpawnedServer> {
  const startedMs = performance.now();
  const log = logFile === null ? 'pipe' : openSync(logFile, 'a');
  const child = spawn(process.execPath, ARGUMENTS.split(' '), {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      ...START_ENVIRONMENT,
      SPANDREL_PORT: '0',
      SPANDREL_BOOTSTRAP_PROJECT_KEY: PROJECT_KEY,
      SPANDREL_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      ...environment,
    },
    stdio: ['ignore', 'pipe', log],
  });
  if (log !== 'pipe') closeSync(log);
  // Ends the server if the test process is killed.
  const will = leaveWill('kill -KILL "$0"', [String(child.pid)]);
  child.once('exit', () => will.revoke());
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let text = '';
  let isReady = false;
  const output = () => (logFile === null ? text : text + readFileSync(logFile, 'utf8'));
  return new Promise((resolve, reject) => {
    const lookIntoLog = logFile === null ? undefined : setInterval(() => reportAddress(), LOOK_INTO_LOG_MS);
    const reportAddress = () => {
      const address = /"address":"([^"]+)"/.exec(output())?.[1];
      if (address === undefined) return;
      isReady = true;
      clearInterval(lookIntoLog);
      const server = {
        child,
        address,
        port: Number(new URL(address).port),
        readyMs: (performance.now() - startedMs) / slowdown(NO_TURNS, readTurns(child.pid ?? 0)),
        output,
        residentBytes: () => residentBytes(child.pid),
        stop(signal: NodeJS.Signals) {
          child.kill(signal);
          return exited;
        },
      };
      // Output from before the ready line may come by the other pipe, which is read in this turn.
      setImmediate(() => resolve(server));
    };
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      if (!isReady) reportAddress();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('close', (code) => {
      if (isReady) return;
      clearInterval(lookIntoLog);
      reject(new Error(`the server ended with ${code}: ${output()}`));
    });
  });
}

function residentBytes(pid: number | undefined): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}
