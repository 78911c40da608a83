import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temp.ts';

type Component = {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly object[];
  readonly hashes?: readonly object[];
};
type Bill = {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
};
type Lock = {
  readonly version: string;
  readonly packages: { readonly [path: string]: { readonly version: string; readonly dev?: true } };
};

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(path, 'utf8');

const folder = temporaryFolder();
const lock: Lock = JSON.parse(read(join(ROOT, 'package-lock.json')));
let bill: Bill;
beforeAll(() => {
  const file = execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.ts'), folder.path], { encoding: 'utf8' });
  bill = JSON.parse(read(file.trim()));
});
afterAll(() => folder.remove());

const named = (all: readonly Component[]) => new Set(all.map(({ name, version }) => `${name}@${version}`));

describe('the bill of materials', () => {
  it('lists every package that a release installs, as it is locked', () => {
    const production = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev === undefined);
    const wanted = production.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
    expect(wanted.length).toBeGreaterThan(100);
    const listed = named(bill.components);
    expect(wanted.filter((each) => !listed.has(each))).toEqual([]);
  });

  it('lists what is bundled in gen, and no tools', () => {
    const names = bill.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['react', 'react-dom', 'scheduler', '@pydantic/genai-prices']));
    for (const tool of ['vitest', 'typescript', '@biomejs/biome', 'vite']) expect(names).not.toContain(tool);
  });

  it('names licence, hash and address of each', () => {
    expect(bill.bomFormat).toBe('CycloneDX');
    expect(bill.metadata.component).toMatchObject({ name: 'spandrel', version: lock.version });
    for (const { name, purl, licenses = [], hashes = [] } of bill.components) {
      expect([name, licenses.length > 0, hashes.length > 0]).toEqual([name, true, true]);
      expect(purl).toMatch(/^pkg:npm\/(%40[^/]+\/)?[^@/]+@\d/);
    }
  });
});
