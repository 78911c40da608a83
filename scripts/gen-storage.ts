/**
 * Compiles the queries of src/storage for each store: into gen/storage, or the named folder.
 */

import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type AnySource, createCompiler } from './storage/compile.ts';

/** The modules of functions that compiled queries call. */
const FUNCTIONS = {
  attemptOutcomes: 'rows/codes.ts',
  boolArray: 'engine/postgres/binary-arrays.ts',
  bytesArray: 'engine/postgres/binary-arrays.ts',
  deadReasons: 'rows/codes.ts',
  deliveryStatuses: 'rows/codes.ts',
  dropNul: 'engine/postgres/run-query.ts',
  fillParameters: 'engine/sqlite/compact-ids.ts',
  float8Array: 'engine/postgres/binary-arrays.ts',
  int4Array: 'engine/postgres/binary-arrays.ts',
  int8Array: 'engine/postgres/binary-arrays.ts',
  packCostSource: 'rows/codes.ts',
  packEnvelope: 'engine/sqlite/compact-envelopes.ts',
  packId: 'engine/sqlite/compact-ids.ts',
  packIds: 'engine/sqlite/compact-ids.ts',
  packRequestKey: 'engine/sqlite/compact-ids.ts',
  packTyped: 'rows/codes.ts',
  replayCounts: 'rows/codes.ts',
  replayStatuses: 'rows/codes.ts',
  spanTypes: 'rows/codes.ts',
  textArray: 'engine/postgres/binary-arrays.ts',
  unpackCostSource: 'rows/codes.ts',
  unpackEnvelope: 'engine/sqlite/compact-envelopes.ts',
  unpackRequestKey: 'engine/sqlite/compact-ids.ts',
  unpackTyped: 'rows/codes.ts',
};
const STORAGE = '../../../src/storage';

/** `endpoints/queries-due.ts` becomes `endpoints-due.ts`; a file named after a store is compiled only for it. */
const files = globSync('src/storage/*/queries*.ts').sort();
const target = process.argv[2] ?? 'gen';
for (const store of ['sqlite', 'postgres'] as const) {
  const compile = createCompiler(store);
  const folder = join(target, 'storage', store);
  mkdirSync(folder, { recursive: true });
  const rooms: string[] = [];
  for (const file of files) {
    const subject = basename(file, '.ts').slice('queries'.length);
    if (subject === (store === 'sqlite' ? '-postgres' : '-sqlite')) continue;
    const room = `${basename(dirname(file))}${subject}`;
    const sources: Record<string, AnySource> = await import(`../${file}`);
    const queries = Object.entries(sources).map(([name, source]) => compile(room, name, source));
    writeFileSync(join(folder, `${room}.ts`), `${imports(file, queries.join('\n'))}\n\n${queries.join('\n\n')}\n`);
    // The code of appends imports the files of its store itself.
    if (!room.startsWith('append')) rooms.push(room);
  }
  writeFileSync(
    join(folder, 'all.ts'),
    rooms.map((room) => `export * as ${toName(room)} from './${room}.ts';\n`).join(''),
  );
}

function imports(file: string, code: string): string {
  const calls = (name: string) => new RegExp(`\\b${name}\\b`).test(code);
  const called = Object.entries(FUNCTIONS).filter(([name]) => calls(name));
  const types = ['Compiled', 'CompiledMany'].filter(calls);
  return [
    `// Compiled from ${file} by \`npm run gen\`: change it there.`,
    '',
    `import type { ${types.join(', ')} } from '${STORAGE}/queries.ts';`,
    ...called.map(([name, from]) => `import { ${name} } from '${STORAGE}/${from}';`),
    `import type * as source from '../../../${file}';`,
  ].join('\n');
}

function toName(room: string): string {
  return room.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
