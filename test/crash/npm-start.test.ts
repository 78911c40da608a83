import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temp.ts';

const PROJECT = new URL('../../', import.meta.url).pathname;

type Started = {
  /** The spawned process, which leads its own process group. */
  readonly child: ChildProcess;
  readonly npm: number;
  readonly server: number;
  readonly address: string;
  output(): string;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
};

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).reverse()) step();
});

/** Runs a command line that starts a server, and waits until it is ready. */
async function start(commandLine: string): Promise<Started> {
  const folder = temporaryFolder();
  undo.push(() => folder.remove());
  const child = spawn('sh', ['-c', commandLine], {
    cwd: PROJECT,
    env: {
      PATH: process.env.PATH,
      HOME: folder.path,
      npm_config_update_notifier: 'false',
      SPANDREL_PORT: '0',
      SPANDREL_DATABASE_URL: `sqlite:${join(folder.path, 'spandrel.db')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const group = Number(child.pid);
  undo.push(() => killQuietly(-group));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
  const address = await until(() => /"address":"([^"]+)"/.exec(text)?.[1] ?? null);
  const family = familyOf(group);
  const npm = family.find(({ command }) => command.startsWith('npm '))?.pid ?? 0;
  const server = family.filter(({ command }) => /\bnode .*(launch\.js|spandrel)$/.test(command)).at(-1)?.pid ?? 0;
  return { child, npm, server, address, output: () => text, ended };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process group has ended already.
  }
}

type Process = { readonly pid: number; readonly parent: number; readonly command: string };

/** The process and its descendants, parents first. */
function familyOf(root: number): readonly Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
  const family = all.filter(({ pid }) => pid === root);
  for (const { pid } of family) family.push(...all.filter(({ parent }) => parent === pid));
  return family;
}

function readProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain any character.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return { pid, parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() };
  } catch {
    return null;
  }
}

/** Far beyond what a busy machine takes to start npm and a server. */
const PATIENCE_MS = 120_000;

async function until<T>(find: () => T | null): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = find();
    if (found !== null) return found;
    if (performance.now() > deadlineMs) throw new Error('it did not come about in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isGone(pid: number): boolean {
  const found = readProcess(pid);
  return found === null || found.command === '';
}

/** The messages of the log, in order. */
function messagesOf(output: string): readonly string[] {
  return [...output.matchAll(/"msg":"([^"]+)"/g)].map((match) => match[1] ?? '');
}

async function expectDrained(started: Started): Promise<void> {
  await until(() => (isGone(started.server) ? true : null));
  // The last lines may still be in the pipe.
  await until(() => (messagesOf(started.output()).at(-1) === 'stopped' ? true : null));
  expect(messagesOf(started.output()).slice(-2)).toEqual(['stopping', 'stopped']);
}

describe.runIf(process.platform === 'linux')('a server that npm started', () => {
  it('ends when npm gets a signal', async () => {
    const started = await start('exec npm start');
    expect([started.npm > 0, started.server > 0]).toEqual([true, true]);
    process.kill(started.npm, 'SIGTERM');
    expect(await started.ended).toBe(0);
    await expectDrained(started);
  });

  it('ends with npm in the background of a shell', async () => {
    const started = await start('npm start & wait $!');
    process.kill(started.npm, 'SIGTERM');
    expect(await started.ended).toBe(0);
    await expectDrained(started);
  });

  it('drains at a Ctrl-C, which arrives from the terminal and once more from npm', async () => {
    const started = await start('exec npm start');
    // An idle connection keeps the server draining for a while.
    expect((await fetch(`${started.address}/readyz`)).status).toBe(200);
    process.kill(-Number(started.child.pid), 'SIGINT');
    expect(await started.ended).toBe(0);
    await expectDrained(started);
  });

  it('ends with npx, which signals only the shell between them', async () => {
    const started = await start('exec npx --offline spandrel');
    process.kill(started.npm, 'SIGTERM');
    await expectDrained(started);
  });
});
