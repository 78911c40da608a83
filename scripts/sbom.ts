/**
 * Writes the software bill of materials (CycloneDX) of what a release contains: the packages that the server loads, and
 * those whose code is in `gen`. Takes the folder it goes to.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { importsOf, sourceFiles } from './house/imports.ts';

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };
type Bill = {
  readonly metadata: { readonly component: { readonly 'bom-ref': string; readonly name: string } };
  readonly components: readonly { readonly 'bom-ref': string; readonly name: string }[];
  readonly dependencies: readonly Dependency[];
};

const ROOT = new URL('..', import.meta.url).pathname;
const MAX_BYTES = 64 * 1024 * 1024;

const [destination = '.'] = process.argv.slice(2);
const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const file = join(resolve(destination), `${manifest.name}-${manifest.version}.cdx.json`);
writeFileSync(file, `${JSON.stringify(ofRelease(readWholeBill()), null, 1)}\n`);
process.stdout.write(`${file}\n`);

/** Of all packages. With `--omit=dev` npm leaves out many that the server loads. */
function readWholeBill(): Bill {
  const format = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const text = execFileSync('npm', ['sbom', ...format], { cwd: ROOT, encoding: 'utf8', maxBuffer: MAX_BYTES });
  return JSON.parse(text);
}

function ofRelease(bill: Bill): Bill {
  const { component } = bill.metadata;
  const root = component['bom-ref'];
  const contained = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
  for (const name of bundled()) contained.add(name);
  const isContained = (ref: string) => contained.has(ref.slice(0, ref.lastIndexOf('@')));
  const dependencies = bill.dependencies.map((each) =>
    each.ref === root ? { ...each, dependsOn: each.dependsOn.filter(isContained) } : each,
  );
  const reached = reach(root, dependencies);
  return {
    ...bill,
    metadata: { ...bill.metadata, component: { ...component, name: manifest.name } },
    components: bill.components.filter((each) => reached.has(each['bom-ref'])),
    dependencies: dependencies.filter(({ ref }) => reached.has(ref)),
  };
}

/** Packages of the console's bundle, and the one that the price list comes from. */
function bundled(): string[] {
  const outside = sourceFiles()
    .filter((path) => path.startsWith('console/'))
    .flatMap(importsOf)
    .filter(({ from, isType }) => !isType && !/^(\.|node:)/.test(from))
    .map(({ from }) => /^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
  return [...new Set(outside), '@pydantic/genai-prices'];
}

function reach(root: string, dependencies: readonly Dependency[]): ReadonlySet<string> {
  const byRef = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const reached = new Set<string>();
  const waiting = [root];
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    waiting.push(...(byRef.get(ref) ?? []));
  }
  return reached;
}
