// Compiled from src/storage/pricing/questions.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/pricing/questions.ts';

export const insertOverride: Compiled<typeof source.insertOverride> = {
  name: 'pricing.insertOverride',
  text: "insert into \"price_overrides\" (\"organization_id\", \"id\", \"model\", \"match\", \"input_pico_usd\", \"output_pico_usd\", \"cache_read_pico_usd\", \"cache_write_pico_usd\", \"effective_from\", \"created_at\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (given) => [given.organizationId, given.id, given.model, given.match, given.inputPicoUsd, given.outputPicoUsd, given.cacheReadPicoUsd ?? null, given.cacheWritePicoUsd ?? null, given.effectiveFromMs ?? null, given.createdAtMs],
};

export const listOverrides: Compiled<typeof source.listOverrides> = {
  name: 'pricing.listOverrides',
  text: "select \"price_overrides\".\"organization_id\" as \"organizationId\", \"price_overrides\".\"id\" as \"id\", \"price_overrides\".\"model\" as \"model\", \"price_overrides\".\"match\" as \"match\", \"price_overrides\".\"input_pico_usd\" as \"inputPicoUsd\", \"price_overrides\".\"output_pico_usd\" as \"outputPicoUsd\", \"price_overrides\".\"cache_read_pico_usd\" as \"cacheReadPicoUsd\", \"price_overrides\".\"cache_write_pico_usd\" as \"cacheWritePicoUsd\", \"price_overrides\".\"effective_from\" as \"effectiveFromMs\", \"price_overrides\".\"created_at\" as \"createdAtMs\" from \"price_overrides\" where \"organization_id\" = ? order by \"created_at\" desc, \"id\" desc",
  cells: (given) => [given.organizationId],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    model: row[2],
    match: row[3],
    inputPicoUsd: row[4],
    outputPicoUsd: row[5],
    cacheReadPicoUsd: row[6],
    cacheWritePicoUsd: row[7],
    effectiveFromMs: row[8],
    createdAtMs: row[9],
  }),
};

export const movePricesOn: Compiled<typeof source.movePricesOn> = {
  name: 'pricing.movePricesOn',
  text: "update \"organizations\" set \"price_version\" = \"price_version\" + 1 where \"id\" = ?",
  cells: (given) => [given.id],
};

export const removeOverride: Compiled<typeof source.removeOverride> = {
  name: 'pricing.removeOverride',
  text: "delete from \"price_overrides\" where (\"organization_id\" = ? and \"id\" = ?)",
  cells: (given) => [given.organizationId, given.id],
};
