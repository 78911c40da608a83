import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temp.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const folder = temporaryFolder();
afterAll(() => folder.remove());

const IMPORTED = /(?:\bfrom |\bimport |\bimport\()'(\.[^']+)'/g;

it('the package and the image have JavaScript, whose imports are all there', () => {
  const target = join(folder.path, 'src');
  execFileSync(process.execPath, [join(ROOT, 'scripts/strip-types.ts'), join(ROOT, 'src'), target], {
    stdio: 'ignore',
  });
  const sources = globSync('**/*', { cwd: join(ROOT, 'src'), withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/src/console'))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, 'src/').length));
  const copies = globSync('**/*.*', { cwd: target });
  expect(copies.toSorted()).toEqual(sources.map((path) => path.replace(/\.ts$/, '.js')).toSorted());
  const scripts = copies.filter((path) => path.endsWith('.js'));
  const imports = scripts.flatMap((path) =>
    [...readFileSync(join(target, path), 'utf8').matchAll(IMPORTED)].map(([, to = '']) => join(dirname(path), to)),
  );
  expect(imports.length).toBeGreaterThan(1000);
  // Generated code stands beside the folder, in both.
  const missing = imports.filter(
    (path) => !existsSync(join(path.startsWith('../gen/') ? join(ROOT, 'src') : target, path)),
  );
  expect(missing).toEqual([]);
});
