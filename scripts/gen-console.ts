/** Bundles the console into gen/console or a given folder. Equal sources give equal bytes. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { leaveOutOptions } from './console-descriptors.ts';

const folder = join(process.argv[2] ?? new URL('../gen', import.meta.url).pathname, 'console');

rmSync(folder, { recursive: true, force: true });
await build({
  configFile: false,
  root: new URL('../src/console', import.meta.url).pathname,
  // Hides warnings on directives for server rendering.
  logLevel: 'error',
  plugins: [leaveOutOptions()],
  build: {
    outDir: folder,
    emptyOutDir: true,
    target: 'es2023',
    // The page's security policy refuses inline code and data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A style sheet that fails to load is not asked for again; one for all pages loads with the first.
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
});
