import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';

const LAUNCH = new URL('../../src/launch.js', import.meta.url).pathname;

export type CliOutcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs the real command line to its end, over nothing but this environment. */
export function runCli(
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
