import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** A child process under measurement, or several that do one thing together. */
export type Program = {
  readonly name: string;
  readonly pids: readonly number[];
  readonly port: number;
  /** performance.now() of the spawn. */
  readonly spawnedAt: number;
  /** Asks it to end and waits; rejects, after killing it, when it does not end cleanly. */
  stop(): Promise<void>;
  /** The last lines it logged, for the report of a failure. */
  lastWords(): string;
};

export type Launch = {
  readonly name: string;
  readonly entry: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where its stdout and stderr go: a file, because a pipe would make the generator read the log. */
  readonly logFile: string;
};

const readyMs = 30_000;
const stopMs = 15_000;
const pollMs = 2;
const lastWordsBytes = 2_000;
const cleanEnd = 'exit code 0, signal null';

/** How long a directory is needed: what takes minutes to make serves all rows of a run. */
export type Lifetime = 'row' | 'run';

const children = new Set<ChildProcess>();
const directories = new Map<string, Lifetime>();

/** A fresh directory on the disk of the system's temporary files. */
export function createDirectory(lifetime: Lifetime = 'row'): string {
  const directory = mkdtempSync(join(tmpdir(), 'spandrel-bench-'));
  directories.set(directory, lifetime);
  return directory;
}

/**
 * Kills what still runs and removes what was written, at the end of a row or of the run. Synchronous, so that it
 * also works while exiting.
 */
export function cleanUp(ended: Lifetime): void {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const [directory, lifetime] of directories) {
    if (ended === 'row' && lifetime === 'run') continue;
    rmSync(directory, { recursive: true, force: true });
    directories.delete(directory);
  }
}

/** Runs a program to its end and answers what it said. Rejects when it fails. */
export async function runToEnd(plan: Launch): Promise<string> {
  const { exited } = spawnChild(plan);
  const how = await exited;
  const said = readFileSync(plan.logFile, 'utf8');
  if (how !== cleanEnd) throw new Error(`${plan.name} ended badly: ${how}\n${said.slice(-lastWordsBytes)}`);
  return said;
}

/** Starts a program and waits for the line that says where it listens. */
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
      // The limit programs leave SIGTERM to its default.
      if (how !== cleanEnd && how !== 'exit code null, signal SIGTERM') {
        throw new Error(`${plan.name} ended badly: ${how}\n${lastWords()}`);
      }
    },
  };
}

function spawnChild(plan: Launch): { child: ChildProcess; exited: Promise<string> } {
  const log = openSync(plan.logFile, 'w');
  // stdin stays open as long as the harness lives: the limit programs end with it.
  const child = spawn(process.execPath, [plan.entry, ...plan.args], {
    env: plan.env,
    cwd: dirname(plan.logFile),
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  children.add(child);
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

/** The port of the first complete line that says `ready`; other lines are somebody else's. */
function readPort(log: string): number | null {
  for (const line of log.split('\n').slice(0, -1)) {
    if (!line.includes('"ready"')) continue;
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null && 'address' in entry && typeof entry.address === 'string') {
      return Number(new URL(entry.address).port);
    }
  }
  return null;
}
