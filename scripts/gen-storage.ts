/** Compiles the questions of src/storage, which are written once, for every store: into gen/storage, or the named folder. */

import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type AnySource, createCompiler } from './storage/compile.ts';

/** Where the functions are that compiled questions call. */
const FUNCTIONS = {
  attemptOutcomes: 'rows/webhook-codes.ts',
  deadReasons: 'rows/webhook-codes.ts',
  deliveryStatuses: 'rows/webhook-codes.ts',
  fillPlaces: 'sqlite/id-lists.ts',
  packCostSource: 'rows/codes.ts',
  packId: 'sqlite/compact-ids.ts',
  packIds: 'sqlite/id-lists.ts',
  packTyped: 'rows/typed-text.ts',
  spanTypes: 'rows/codes.ts',
  unpackCostSource: 'rows/codes.ts',
  unpackTyped: 'rows/typed-text.ts',
};
const STORAGE = '../../../src/storage';

/** Files of questions by the names of what is compiled of them: `endpoints/questions-due.ts` becomes `endpoints-due.ts`. */
const FILES = globSync('src/storage/*/questions*.ts')
  .map((file) => `${basename(dirname(file))}/${basename(file)}`)
  .sort();
const target = process.argv[2] ?? 'gen';
for (const store of ['sqlite', 'postgres'] as const) {
  const compile = createCompiler(store);
  const folder = join(target, 'storage', store);
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) {
    const sources: Record<string, AnySource> = await import(`../src/storage/${file}`);
    const name = file.replace(/\/questions|\.ts$/g, '');
    const questions = Object.entries(sources).map(([own, source]) => compile(name, own, source));
    writeFileSync(join(folder, `${name}.ts`), `${imports(file, questions.join('\n'))}\n\n${questions.join('\n\n')}\n`);
  }
}

function imports(file: string, code: string): string {
  const called = Object.entries(FUNCTIONS).filter(([name]) => new RegExp(`\\b${name}\\b`).test(code));
  return [
    `// Compiled from src/storage/${file} by \`npm run gen\`: change it there.`,
    '',
    `import type { Compiled } from '${STORAGE}/questions.ts';`,
    ...called.map(([name, file]) => `import { ${name} } from '${STORAGE}/${file}';`),
    `import type * as source from '${STORAGE}/${file}';`,
  ].join('\n');
}
