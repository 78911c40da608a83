/** Bundles the console into gen/console, or into the folder that is given. The same sources make the same bytes. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { leaveOutOptions } from './console-descriptors.ts';

const folder = join(process.argv[2] ?? new URL('../gen', import.meta.url).pathname, 'console');

rmSync(folder, { recursive: true, force: true });
await build({
  configFile: false,
  root: new URL('../src/console', import.meta.url).pathname,
  // Its warnings are about directives of frameworks that render on servers.
  logLevel: 'error',
  plugins: [leaveOutOptions()],
  build: {
    outDir: folder,
    emptyOutDir: true,
    target: 'es2023',
    // What stands in the page itself or in an address of its own is refused by the policy of the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
