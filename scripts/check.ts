/** All checks before a commit, in one command. Runs every step and lists the failed ones. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Step = { readonly name: string; readonly command: string; readonly args: readonly string[] };

const STEPS: readonly Step[] = [
  { name: 'proto format', command: 'buf', args: ['format', '--diff', '--exit-code', '--path', 'proto/spandrel'] },
  { name: 'proto lint', command: 'buf', args: ['lint'] },
  // Released clients must keep working: the image holds the contract of the last release.
  { name: 'proto compatibility', command: 'buf', args: ['breaking', 'proto', '--against', 'proto/baseline.binpb'] },
  { name: 'lint and format', command: 'biome', args: ['check', '--error-on-warnings'] },
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'types of the console', command: 'tsc', args: ['--noEmit', '--project', 'src/console'] },
  // The schema test shows a described column that no migration adds.
  {
    name: 'house rules',
    command: 'vitest',
    args: ['run', '--project', 'sqlite', 'test/house', 'test/storage/sqlite-schema'],
  },
];

const failed = STEPS.filter((step) => !run(step)).map((step) => step.name);
if (!isGeneratedFresh()) failed.push('gen/, docs/rest.md or docs/attributes.md is stale: run npm run gen');
if (failed.length > 0) {
  process.stderr.write(`check failed: ${failed.join(', ')}\n`);
  process.exit(1);
}
process.stdout.write('check passed\n');

function run({ name, command, args }: Step): boolean {
  process.stdout.write(`== ${name}\n`);
  return spawnSync(command, args, { stdio: 'inherit' }).status === 0;
}

/** Generates into a temporary folder and compares: the work tree stays unchanged. */
function isGeneratedFresh(): boolean {
  process.stdout.write('== generated code and docs\n');
  const folder = mkdtempSync(join(tmpdir(), 'spandrel-gen-'));
  try {
    return [
      ['buf', 'generate', '--output', folder],
      ['buf', 'generate', '--template', 'buf.gen.docs.yaml', '--output', folder],
      ['node', 'scripts/gen-attributes.ts', folder],
      ['node', 'scripts/gen-prices.ts', join(folder, 'gen')],
      ['node', 'scripts/gen-console.ts', join(folder, 'gen')],
      ['diff', '-r', 'gen', join(folder, 'gen')],
      ...['docs/rest.md', 'docs/attributes.md'].map((page) => ['diff', page, join(folder, page)]),
    ].every(([command = '', ...args]) => spawnSync(command, args, { stdio: 'inherit' }).status === 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
