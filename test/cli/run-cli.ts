import { execFile } from 'node:child_process';

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
