/** The price list that comes with this version, made by `npm run gen`. */

import { readFileSync } from 'node:fs';
import { type PackedPriceRegistry, type PriceRegistry, unpackPriceRegistry } from './domain/pricing/registry.ts';

const FILE = new URL('../gen/prices.json', import.meta.url);

export function readPriceList(): PriceRegistry {
  return unpackPriceRegistry(JSON.parse(readFileSync(FILE, 'utf8')) as PackedPriceRegistry);
}
