import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { runCommand } from '../../src/cli/run.ts';

const LAUNCH = new URL('../../src/launch.js', import.meta.url).pathname;

export type CliOutcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** What the command line does, in this process, over nothing but this environment. */
export async function runCli(
  args: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<CliOutcome> {
  let stdout = '';
  let stderr = '';
  const code = await runCommand(args, {
    environment,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  });
  return { code, stdout, stderr };
}

/** Runs the real command line to its end: a process of its own is what is tested, or what locks something. */
export function runCliProcess(
  args: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<CliOutcome> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, ...environment };
    execFile(process.execPath, [LAUNCH, ...args], { env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(error);
    });
  });
}

/** Runs it while nobody reads what it prints. */
export async function runCliUnread(
  args: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<Omit<CliOutcome, 'stdout'>> {
  const env = { PATH: process.env.PATH, ...environment };
  const child = spawn(process.execPath, [LAUNCH, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}
