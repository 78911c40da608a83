// Compiled from src/storage/search/queries-index.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { bytesArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/search/queries-index.ts';

export const countPending: Compiled<typeof source.countPending> = {
  name: 'search-index.countPending',
  text: "select count(*) as \"count\" from \"search_pending\"",
  cells: () => [],
  row: (row) => row,
};

export const findHead: Compiled<typeof source.findHead> = {
  name: 'search-index.findHead',
  text: "select \"search_heads\".\"project_number\" as \"projectNumber\", \"search_heads\".\"generation\" as \"generation\", \"search_heads\".\"next_block\" as \"nextBlock\", \"search_heads\".\"written_block\" as \"writtenBlock\", \"search_heads\".\"removed_block\" as \"removedBlock\", \"search_heads\".\"leased_until\" as \"leasedUntilMs\" from \"search_heads\" where \"project_number\" = $1",
  cells: (params) => [params.projectNumber],
  row: (row) => row,
};

export const findPendingBeyond: Compiled<typeof source.findPendingBeyond> = {
  name: 'search-index.findPendingBeyond',
  text: "select \"trace_sequence\" as \"sequence\" from \"search_pending\" where \"project_number\" = $1 order by \"trace_sequence\" limit $2 offset $3",
  cells: (params) => [params.projectNumber, 1, params.count],
  row: (row) => row,
};

export const findPendingProject: Compiled<typeof source.findPendingProject> = {
  name: 'search-index.findPendingProject',
  text: "select \"project_number\" as \"projectNumber\" from \"search_pending\" where \"project_number\" > $1 order by \"project_number\" limit $2",
  cells: (params) => [params.after, 1],
  row: (row) => row,
};

export const insertBlocks: Compiled<typeof source.insertBlocks> = {
  name: 'search-index.insertBlocks',
  text: "insert into \"search_blocks\" (\"project_number\", \"block\", \"traces\", \"first_sequence\", \"last_sequence\", \"started_from\", \"started_to\", \"updated_from\", \"updated_to\", \"inserted_from\", \"crowded_count\", \"text_slices\", \"deleted\", \"deleted_count\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\", \"given\".\"v12\", \"given\".\"v13\" from unnest($1::int[], $2::int[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::int[], $12::int[], $13::bytea[], $14::int[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13)",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int4Array(rows, (params) => params.block), int4Array(rows, (params) => params.traces), int8Array(rows, (params) => params.firstSequence), int8Array(rows, (params) => params.lastSequence), int8Array(rows, (params) => params.startedFromMs), int8Array(rows, (params) => params.startedToMs), int8Array(rows, (params) => params.updatedFromMs), int8Array(rows, (params) => params.updatedToMs), int8Array(rows, (params) => params.insertedFromMs), int4Array(rows, (params) => params.crowdedCount), int4Array(rows, (params) => params.textSlices), bytesArray(rows, (params) => params.deleted), int4Array(rows, (params) => params.deletedCount)],
};

export const insertFacets: Compiled<typeof source.insertFacets> = {
  name: 'search-index.insertFacets',
  text: "insert into \"search_facets\" (\"project_number\", \"block\", \"facet\", \"trace_set\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\" from unnest($1::int[], $2::int[], $3::bigint[], $4::bytea[]) as given (v0, v1, v2, v3)",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int4Array(rows, (params) => params.block), int8Array(rows, (params) => params.facet), bytesArray(rows, (params) => params.traceSet)],
};

export const insertHead: Compiled<typeof source.insertHead> = {
  name: 'search-index.insertHead',
  text: "insert into \"search_heads\" (\"project_number\", \"generation\", \"next_block\", \"written_block\", \"removed_block\", \"leased_until\") values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
  cells: (params) => [params.projectNumber, params.generation, params.nextBlock, params.writtenBlock ?? null, params.removedBlock ?? null, params.leasedUntilMs],
};

export const insertParts: Compiled<typeof source.insertParts> = {
  name: 'search-index.insertParts',
  text: "insert into \"search_parts\" (\"project_number\", \"block\", \"part\", \"content\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\" from unnest($1::int[], $2::int[], $3::int[], $4::bytea[]) as given (v0, v1, v2, v3)",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int4Array(rows, (params) => params.block), int4Array(rows, (params) => params.part), bytesArray(rows, (params) => params.content)],
};

export const listBlocks: Compiled<typeof source.listBlocks> = {
  name: 'search-index.listBlocks',
  text: "select \"search_blocks\".\"project_number\" as \"projectNumber\", \"search_blocks\".\"block\" as \"block\", \"search_blocks\".\"traces\" as \"traces\", \"search_blocks\".\"first_sequence\" as \"firstSequence\", \"search_blocks\".\"last_sequence\" as \"lastSequence\", \"search_blocks\".\"started_from\" as \"startedFromMs\", \"search_blocks\".\"started_to\" as \"startedToMs\", \"search_blocks\".\"updated_from\" as \"updatedFromMs\", \"search_blocks\".\"updated_to\" as \"updatedToMs\", \"search_blocks\".\"inserted_from\" as \"insertedFromMs\", \"search_blocks\".\"crowded_count\" as \"crowdedCount\", \"search_blocks\".\"text_slices\" as \"textSlices\", \"search_blocks\".\"deleted\" as \"deleted\", \"search_blocks\".\"deleted_count\" as \"deletedCount\" from \"search_blocks\" where \"project_number\" = $1 and \"block\" > $2 order by \"block\" limit $3",
  cells: (params) => [params.projectNumber, params.after, params.limit],
  row: (row) => row,
};

export const listFacets: Compiled<typeof source.listFacets> = {
  name: 'search-index.listFacets',
  text: "select \"block\" as \"block\", \"facet\" as \"facet\", \"trace_set\" as \"traceSet\" from \"search_facets\" where \"project_number\" = $1 and \"block\" = any($2) and \"facet\" = any($3)",
  cells: (params) => [params.projectNumber, params.blocks, params.facets],
  row: (row) => row,
};

export const listParts: Compiled<typeof source.listParts> = {
  name: 'search-index.listParts',
  text: "select \"block\" as \"block\", \"part\" as \"part\", \"content\" as \"content\" from \"search_parts\" where \"project_number\" = $1 and \"block\" = any($2) and \"part\" = any($3)",
  cells: (params) => [params.projectNumber, params.blocks, params.parts],
  row: (row) => row,
};

export const listPending: Compiled<typeof source.listPending> = {
  name: 'search-index.listPending',
  text: "select \"trace_sequence\" as \"sequence\", \"mark\" as \"mark\" from \"search_pending\" where \"project_number\" = $1 order by \"trace_sequence\" limit $2",
  cells: (params) => [params.projectNumber, params.limit],
  row: (row) => row,
};

export const lockHead: Compiled<typeof source.lockHead> = {
  name: 'search-index.lockHead',
  text: "select \"search_heads\".\"project_number\" as \"projectNumber\", \"search_heads\".\"generation\" as \"generation\", \"search_heads\".\"next_block\" as \"nextBlock\", \"search_heads\".\"written_block\" as \"writtenBlock\", \"search_heads\".\"removed_block\" as \"removedBlock\", \"search_heads\".\"leased_until\" as \"leasedUntilMs\" from \"search_heads\" where \"project_number\" = $1 for update",
  cells: (params) => [params.projectNumber],
  row: (row) => row,
};

export const lockPending: Compiled<typeof source.lockPending> = {
  name: 'search-index.lockPending',
  text: "select \"trace_sequence\" as \"sequence\" from \"search_pending\" where \"project_number\" = $1 and \"trace_sequence\" = any($2) order by \"trace_sequence\" for update",
  cells: (params) => [params.projectNumber, params.sequences],
  row: (row) => row,
};

export const markStored: Compiled<typeof source.markStored> = {
  name: 'search-index.markStored',
  text: "insert into \"search_pending\" (\"project_number\", \"trace_sequence\", \"mark\") select \"project_number\", \"sequence\", 1 as \"mark\" from \"traces\" where \"project_number\" + 0 = $1 and \"sequence\" = any($2) order by \"sequence\" on conflict (\"project_number\", \"trace_sequence\") do update set \"mark\" = \"search_pending\".\"mark\" + 1",
  cells: (params) => [params.projectNumber, params.sequences],
};

export const markTraces: Compiled<typeof source.markTraces> = {
  name: 'search-index.markTraces',
  text: "insert into \"search_pending\" (\"project_number\", \"trace_sequence\", \"mark\") select \"given\".\"v0\", \"given\".\"v1\", 1 from unnest($1::int[], $2::bigint[]) as given (v0, v1) on conflict (\"project_number\", \"trace_sequence\") do update set \"mark\" = \"search_pending\".\"mark\" + 1",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence)],
};

export const removeBlocks: Compiled<typeof source.removeBlocks> = {
  name: 'search-index.removeBlocks',
  text: "delete from \"search_blocks\" using unnest($1::int[], $2::int[]) as given (v0, v1) where (\"project_number\" = \"given\".\"v0\" and \"block\" = \"given\".\"v1\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int4Array(rows, (params) => params.block)],
};

export const removeFacets: Compiled<typeof source.removeFacets> = {
  name: 'search-index.removeFacets',
  text: "delete from \"search_facets\" where (\"project_number\" = $1 and \"block\" = $2) and \"facet\" <= (select max(\"some\".\"key\") as \"last\" from (select \"facet\" as \"key\" from \"search_facets\" where (\"project_number\" = $3 and \"block\" = $4) order by \"facet\" limit $5) as \"some\")",
  cells: (params) => [params.projectNumber, params.block, params.projectNumber, params.block, params.limit],
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'search-index.removeParts',
  text: "delete from \"search_parts\" where (\"project_number\" = $1 and \"block\" = $2) and \"part\" <= (select max(\"some\".\"key\") as \"last\" from (select \"part\" as \"key\" from \"search_parts\" where (\"project_number\" = $3 and \"block\" = $4) order by \"part\" limit $5) as \"some\")",
  cells: (params) => [params.projectNumber, params.block, params.projectNumber, params.block, params.limit],
};

export const removePending: Compiled<typeof source.removePending> = {
  name: 'search-index.removePending',
  text: "delete from \"search_pending\" using unnest($1::int[], $2::bigint[], $3::bigint[]) as given (v0, v1, v2) where (\"project_number\" = \"given\".\"v0\" and \"trace_sequence\" = \"given\".\"v1\" and \"mark\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int8Array(rows, (params) => params.traceSequence), int8Array(rows, (params) => params.mark)],
};

export const updateDeleted: Compiled<typeof source.updateDeleted> = {
  name: 'search-index.updateDeleted',
  text: "update \"search_blocks\" set \"deleted\" = \"given\".\"v2\", \"deleted_count\" = \"given\".\"v3\" from unnest($1::int[], $2::int[], $3::bytea[], $4::int[]) as given (v0, v1, v2, v3) where (\"project_number\" = \"given\".\"v0\" and \"block\" = \"given\".\"v1\")",
  cells: (rows) => [int4Array(rows, (params) => params.projectNumber), int4Array(rows, (params) => params.block), bytesArray(rows, (params) => params.deleted), int4Array(rows, (params) => params.deletedCount)],
};

export const updateHead: Compiled<typeof source.updateHead> = {
  name: 'search-index.updateHead',
  text: "update \"search_heads\" set \"generation\" = $1, \"next_block\" = $2, \"written_block\" = $3, \"removed_block\" = $4, \"leased_until\" = $5 where \"project_number\" = $6",
  cells: (params) => [params.generation, params.nextBlock, params.writtenBlock ?? null, params.removedBlock ?? null, params.leasedUntilMs, params.projectNumber],
};
