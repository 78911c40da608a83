/**
 * Converts the price list of @pydantic/genai-prices, with our corrections, to gen/prices.json. A server does not do this at start: the package
 * takes 20 MiB and 40 ms to load, and only one table of it is needed.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitForUpdate } from '@pydantic/genai-prices';
import { correctPrices } from '../src/domain/pricing/correct-prices.ts';
import { packPriceRegistry } from '../src/domain/pricing/packing.ts';

/** The package lacks its release date; this constant holds it beside the version. */
const RELEASE = { version: '0.1.8', releasedOn: '2026-09-23' };

const folder = process.argv[2] ?? 'gen';
const manifest: unknown = JSON.parse(readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8'));
const installed = (manifest as { version: string }).version;
if (installed !== RELEASE.version) {
  throw new Error(
    `@pydantic/genai-prices ${installed} is installed; put its version and release date into this script`,
  );
}
const packed = packPriceRegistry(RELEASE, correctPrices((await waitForUpdate()) ?? []));
writeFileSync(join(folder, 'prices.json'), `${JSON.stringify(packed)}\n`);
