/**
 * Packs the server as `npm pack` does, with JavaScript, which Node needs in folders of packages, and writes its bill of
 * materials beside the tarball. Takes the folder of both.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = new URL('..', import.meta.url).pathname;
const COPIED = ['gen', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md'];

const [destination = '.'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'spandrel-pack-'));
try {
  const stripTypes = join(ROOT, 'scripts/strip-types.ts');
  const quietly = ['--disable-warning=ExperimentalWarning'];
  execFileSync(process.execPath, [...quietly, stripTypes, join(ROOT, 'src'), join(folder, 'src')], {
    stdio: 'inherit',
  });
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const { devDependencies: _, scripts, ...manifest } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const packed = { ...manifest, scripts: { start: scripts.start }, files: ['src', ...COPIED] };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(packed, null, 2));
  execFileSync('npm', ['pack', '--pack-destination', resolve(destination)], { cwd: folder, stdio: 'inherit' });
  execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.ts'), destination], { stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true });
}
