/**
 * Turns the price list that @pydantic/genai-prices carries into gen/prices.json. Done here and not at start: the package
 * takes 20 MiB and 40 ms to load, and what is needed of it is a table.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForUpdate } from '@pydantic/genai-prices';
import { packPriceRegistry } from '../src/domain/pricing/registry.ts';

/** The package does not tell when it was published; the date stands here beside the version it belongs to. */
const RELEASE = { version: '0.1.8', releasedOn: '2026-09-23' };

const folder = process.argv[2] ?? 'gen';
const manifest: unknown = JSON.parse(readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8'));
const installed = (manifest as { version: string }).version;
if (installed !== RELEASE.version) {
  throw new Error(
    `@pydantic/genai-prices ${installed} is installed; put its version and release date into this script`,
  );
}
const packed = packPriceRegistry(RELEASE, (await waitForUpdate()) ?? []);
writeFileSync(join(folder, 'prices.json'), `${JSON.stringify(packed)}\n`);
