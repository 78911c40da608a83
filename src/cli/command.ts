/** What the command line asks for. */

import { readFileSync } from 'node:fs';
import { SETTINGS } from '../config.ts';

export type Command =
  | { readonly kind: 'serve' }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'wrong'; readonly text: string };

/** `args` without the runtime and the script. */
export function readCommand(args: readonly string[]): Command {
  const [first, ...others] = args;
  if (first === '--help' || first === '-h' || first === 'help') return { kind: 'print', text: help() };
  if (first === '--version') return { kind: 'print', text: `spandrel ${version()}\n` };
  if ((first === undefined || first === 'serve') && others.length === 0) return { kind: 'serve' };
  return { kind: 'wrong', text: `spandrel: unknown argument: ${args.join(' ')}\nRun spandrel --help.\n` };
}

function help(): string {
  const width = Math.max(...SETTINGS.map((setting) => setting.name.length));
  const rows = SETTINGS.map(({ name, fallback, about }) => {
    const unset = fallback === '' ? '' : ` Default: ${fallback}.`;
    return `  ${name.padEnd(width)}  ${about}${unset}`;
  });
  return [
    'spandrel [serve]    run the server',
    'spandrel --help     print this page',
    'spandrel --version  print the version',
    '',
    'Settings are read from the environment:',
    ...rows,
    '',
  ].join('\n');
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : null;
  return String(found);
}
