import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** A measured child process, or several that work together. */
export type Program = {
  readonly name: string;
  readonly pids: readonly number[];
  readonly port: number;
  /** performance.now() of the spawn. */
  readonly spawnedAt: number;
  /** Sends SIGTERM and waits; kills it and rejects when it does not end cleanly. */
  stop(): Promise<void>;
  /** The last lines it logged, for the report of a failure. */
  lastWords(): string;
};

export type Launch = {
  readonly name: string;
  readonly entry: string;
  readonly nodeOptions?: readonly string[];
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The file of stdout and stderr; with a pipe the generator would have to read the log. */
  readonly logFile: string;
  /** Of one row by default. */
  readonly lifetime?: Lifetime;
};

const readyMs = 30_000;
const stopMs = 15_000;
const pollMs = 2;
const lastWordsBytes = 2_000;
const cleanEnd = 'exit code 0, signal null';

/** How long a directory exists: data that takes minutes to create serves a whole run. */
export type Lifetime = 'row' | 'run';

const children = new Map<ChildProcess, Lifetime>();
const directories = new Map<string, Lifetime>();

/** Creates a directory among the system's temporary files. */
export function createDirectory(lifetime: Lifetime = 'row'): string {
  const directory = mkdtempSync(join(tmpdir(), 'spandrel-bench-'));
  directories.set(directory, lifetime);
  return directory;
}

/**
 * Kills running programs and removes directories at the end of a row or of the run. Synchronous, so that it also works
 * in an exit handler.
 */
export function cleanUp(ended: Lifetime): void {
  for (const [child, lifetime] of children) {
    if (ended === 'row' && lifetime === 'run') continue;
    child.kill('SIGKILL');
    children.delete(child);
  }
  for (const [directory, lifetime] of directories) {
    if (ended === 'row' && lifetime === 'run') continue;
    rmSync(directory, { recursive: true, force: true });
    directories.delete(directory);
  }
}

/** Runs a program to its end and returns its output. Rejects when it fails. */
export async function runToEnd(plan: Launch): Promise<string> {
  const { exited } = spawnChild(plan);
  const how = await exited;
  const said = readFileSync(plan.logFile, 'utf8');
  if (how !== cleanEnd) throw new Error(`${plan.name} ended badly: ${how}\n${said.slice(-lastWordsBytes)}`);
  return said;
}

/** Starts a program and waits for the log line with its address. */
export async function launch(plan: Launch): Promise<Program> {
  const spawnedAt = performance.now();
  const { child, exited } = spawnChild(plan);
  const lastWords = (): string => readFileSync(plan.logFile, 'utf8').slice(-lastWordsBytes);
  const port = await waitForPort(plan, child, spawnedAt);
  return {
    name: plan.name,
    pids: [child.pid ?? 0],
    port,
    spawnedAt,
    lastWords,
    async stop() {
      child.kill('SIGTERM');
      const how = await Promise.race([exited, delay(stopMs, 'still running', { ref: false })]);
      child.kill('SIGKILL');
      if (how === 'still running') throw new Error(`${plan.name} ignored SIGTERM for ${stopMs / 1000} s.`);
      // The limit programs do not handle SIGTERM.
      if (how !== cleanEnd && how !== 'exit code null, signal SIGTERM') {
        throw new Error(`${plan.name} ended badly: ${how}\n${lastWords()}`);
      }
    },
  };
}

function spawnChild(plan: Launch): { child: ChildProcess; exited: Promise<string> } {
  const log = openSync(plan.logFile, 'w');
  // stdin stays open while the harness runs: limit programs end when it closes.
  const child = spawn(process.execPath, [...(plan.nodeOptions ?? []), plan.entry, ...plan.args], {
    env: plan.env,
    cwd: dirname(plan.logFile),
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  children.set(child, plan.lifetime ?? 'row');
  const exited = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(`exit code ${code}, signal ${signal}`));
  }).finally(() => children.delete(child));
  return { child, exited };
}

async function waitForPort(plan: Launch, child: ChildProcess, spawnedAt: number): Promise<number> {
  while (performance.now() - spawnedAt < readyMs) {
    const log = readFileSync(plan.logFile, 'utf8');
    const port = readPort(log);
    if (port !== null) return port;
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Error(
        `${plan.name} ended before it was ready (code ${child.exitCode}):\n${log.slice(-lastWordsBytes)}`,
      );
    }
    await delay(pollMs);
  }
  child.kill('SIGKILL');
  throw new Error(`${plan.name} was not ready within ${readyMs / 1000} s.`);
}

/** The port in the first complete line that is a port, or that says `ready`. */
function readPort(log: string): number | null {
  for (const line of log.split('\n').slice(0, -1)) {
    if (/^\d+$/.test(line)) return Number(line);
    if (!line.includes('"ready"')) continue;
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null && 'address' in entry && typeof entry.address === 'string') {
      return Number(new URL(entry.address).port);
    }
  }
  return null;
}
