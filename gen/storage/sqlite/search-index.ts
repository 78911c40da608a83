// Compiled from src/storage/search/queries-index.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/search/queries-index.ts';

export const countPending: Compiled<typeof source.countPending> = {
  name: 'search-index.countPending',
  text: "select count(*) as \"count\" from \"search_pending\"",
  cells: () => [],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const findHead: Compiled<typeof source.findHead> = {
  name: 'search-index.findHead',
  text: "select \"search_heads\".\"project_number\" as \"projectNumber\", \"search_heads\".\"generation\" as \"generation\", \"search_heads\".\"next_block\" as \"nextBlock\", \"search_heads\".\"written_block\" as \"writtenBlock\", \"search_heads\".\"removed_block\" as \"removedBlock\", \"search_heads\".\"leased_until\" as \"leasedUntilMs\" from \"search_heads\" where \"project_number\" = ?",
  cells: (params) => [params.projectNumber],
  row: (row: any) => ({
    projectNumber: row[0],
    generation: row[1],
    nextBlock: row[2],
    writtenBlock: row[3],
    removedBlock: row[4],
    leasedUntilMs: row[5],
  }),
};

export const findPendingBeyond: Compiled<typeof source.findPendingBeyond> = {
  name: 'search-index.findPendingBeyond',
  text: "select \"trace_sequence\" as \"sequence\" from \"search_pending\" where \"project_number\" = ? order by \"trace_sequence\" limit ? offset ?",
  cells: (params) => [params.projectNumber, 1, params.count],
  row: (row: any) => ({
    sequence: row[0],
  }),
};

export const findPendingProject: Compiled<typeof source.findPendingProject> = {
  name: 'search-index.findPendingProject',
  text: "select \"project_number\" as \"projectNumber\" from \"search_pending\" where \"project_number\" > ? order by \"project_number\" limit ?",
  cells: (params) => [params.after, 1],
  row: (row: any) => ({
    projectNumber: row[0],
  }),
};

export const insertBlocks: Compiled<typeof source.insertBlocks> = {
  name: 'search-index.insertBlocks',
  text: "insert into \"search_blocks\" (\"project_number\", \"block\", \"traces\", \"first_sequence\", \"last_sequence\", \"started_from\", \"started_to\", \"updated_from\", \"updated_to\", \"inserted_from\", \"crowded_count\", \"text_slices\", \"deleted\", \"deleted_count\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.block, params.traces, params.firstSequence, params.lastSequence, params.startedFromMs, params.startedToMs, params.updatedFromMs, params.updatedToMs, params.insertedFromMs, params.crowdedCount, params.textSlices, params.deleted, params.deletedCount])],
};

export const insertFacets: Compiled<typeof source.insertFacets> = {
  name: 'search-index.insertFacets',
  text: "insert into \"search_facets\" (\"project_number\", \"block\", \"facet\", \"trace_set\") values (?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.block, params.facet, params.traceSet])],
};

export const insertHead: Compiled<typeof source.insertHead> = {
  name: 'search-index.insertHead',
  text: "insert into \"search_heads\" (\"project_number\", \"generation\", \"next_block\", \"written_block\", \"removed_block\", \"leased_until\") values (?, ?, ?, ?, ?, ?) on conflict do nothing",
  cells: (params) => [params.projectNumber, params.generation, params.nextBlock, params.writtenBlock ?? null, params.removedBlock ?? null, params.leasedUntilMs],
};

export const insertParts: Compiled<typeof source.insertParts> = {
  name: 'search-index.insertParts',
  text: "insert into \"search_parts\" (\"project_number\", \"block\", \"part\", \"content\") values (?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.block, params.part, params.content])],
};

export const listBlocks: Compiled<typeof source.listBlocks> = {
  name: 'search-index.listBlocks',
  text: "select \"search_blocks\".\"project_number\" as \"projectNumber\", \"search_blocks\".\"block\" as \"block\", \"search_blocks\".\"traces\" as \"traces\", \"search_blocks\".\"first_sequence\" as \"firstSequence\", \"search_blocks\".\"last_sequence\" as \"lastSequence\", \"search_blocks\".\"started_from\" as \"startedFromMs\", \"search_blocks\".\"started_to\" as \"startedToMs\", \"search_blocks\".\"updated_from\" as \"updatedFromMs\", \"search_blocks\".\"updated_to\" as \"updatedToMs\", \"search_blocks\".\"inserted_from\" as \"insertedFromMs\", \"search_blocks\".\"crowded_count\" as \"crowdedCount\", \"search_blocks\".\"text_slices\" as \"textSlices\", \"search_blocks\".\"deleted\" as \"deleted\", \"search_blocks\".\"deleted_count\" as \"deletedCount\" from \"search_blocks\" where \"project_number\" = ? and \"block\" > ? order by \"block\" limit ?",
  cells: (params) => [params.projectNumber, params.after, params.limit],
  row: (row: any) => ({
    projectNumber: row[0],
    block: row[1],
    traces: row[2],
    firstSequence: row[3],
    lastSequence: row[4],
    startedFromMs: row[5],
    startedToMs: row[6],
    updatedFromMs: row[7],
    updatedToMs: row[8],
    insertedFromMs: row[9],
    crowdedCount: row[10],
    textSlices: row[11],
    deleted: row[12],
    deletedCount: row[13],
  }),
};

export const listFacets: Compiled<typeof source.listFacets> = {
  name: 'search-index.listFacets',
  text: "select \"block\" as \"block\", \"facet\" as \"facet\", \"trace_set\" as \"traceSet\" from \"search_facets\" where \"project_number\" = ? and \"block\" in (select value from json_each(?)) and \"facet\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.blocks), JSON.stringify(params.facets)],
  row: (row: any) => ({
    block: row[0],
    facet: row[1],
    traceSet: row[2],
  }),
};

export const listParts: Compiled<typeof source.listParts> = {
  name: 'search-index.listParts',
  text: "select \"block\" as \"block\", \"part\" as \"part\", \"content\" as \"content\" from \"search_parts\" where \"project_number\" = ? and \"block\" in (select value from json_each(?)) and \"part\" in (select value from json_each(?))",
  cells: (params) => [params.projectNumber, JSON.stringify(params.blocks), JSON.stringify(params.parts)],
  row: (row: any) => ({
    block: row[0],
    part: row[1],
    content: row[2],
  }),
};

export const listPending: Compiled<typeof source.listPending> = {
  name: 'search-index.listPending',
  text: "select \"trace_sequence\" as \"sequence\", \"mark\" as \"mark\" from \"search_pending\" where \"project_number\" = ? order by \"trace_sequence\" limit ?",
  cells: (params) => [params.projectNumber, params.limit],
  row: (row: any) => ({
    sequence: row[0],
    mark: row[1],
  }),
};

export const lockHead: Compiled<typeof source.lockHead> = {
  name: 'search-index.lockHead',
  text: "select \"search_heads\".\"project_number\" as \"projectNumber\", \"search_heads\".\"generation\" as \"generation\", \"search_heads\".\"next_block\" as \"nextBlock\", \"search_heads\".\"written_block\" as \"writtenBlock\", \"search_heads\".\"removed_block\" as \"removedBlock\", \"search_heads\".\"leased_until\" as \"leasedUntilMs\" from \"search_heads\" where \"project_number\" = ?",
  cells: (params) => [params.projectNumber],
  row: (row: any) => ({
    projectNumber: row[0],
    generation: row[1],
    nextBlock: row[2],
    writtenBlock: row[3],
    removedBlock: row[4],
    leasedUntilMs: row[5],
  }),
};

export const lockPending: Compiled<typeof source.lockPending> = {
  name: 'search-index.lockPending',
  text: "select \"trace_sequence\" as \"sequence\" from \"search_pending\" where \"project_number\" = ? and \"trace_sequence\" in (select value from json_each(?)) order by \"trace_sequence\"",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
  row: (row: any) => ({
    sequence: row[0],
  }),
};

export const markStored: Compiled<typeof source.markStored> = {
  name: 'search-index.markStored',
  text: "insert into \"search_pending\" (\"project_number\", \"trace_sequence\", \"mark\") select \"project_number\", \"sequence\", 1 as \"mark\" from \"traces\" where \"project_number\" + 0 = ? and \"sequence\" in (select value from json_each(?)) order by \"sequence\" on conflict (\"project_number\", \"trace_sequence\") do update set \"mark\" = \"search_pending\".\"mark\" + 1",
  cells: (params) => [params.projectNumber, JSON.stringify(params.sequences)],
};

export const markTraces: Compiled<typeof source.markTraces> = {
  name: 'search-index.markTraces',
  text: "insert into \"search_pending\" (\"project_number\", \"trace_sequence\", \"mark\") values (?, ?, 1) on conflict (\"project_number\", \"trace_sequence\") do update set \"mark\" = \"search_pending\".\"mark\" + 1",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence])],
};

export const removeBlocks: Compiled<typeof source.removeBlocks> = {
  name: 'search-index.removeBlocks',
  text: "delete from \"search_blocks\" where (\"project_number\" = ? and \"block\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.block])],
};

export const removeFacets: Compiled<typeof source.removeFacets> = {
  name: 'search-index.removeFacets',
  text: "delete from \"search_facets\" where (\"project_number\" = ? and \"block\" = ?) and \"facet\" <= (select max(\"some\".\"key\") as \"last\" from (select \"facet\" as \"key\" from \"search_facets\" where (\"project_number\" = ? and \"block\" = ?) order by \"facet\" limit ?) as \"some\")",
  cells: (params) => [params.projectNumber, params.block, params.projectNumber, params.block, params.limit],
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'search-index.removeParts',
  text: "delete from \"search_parts\" where (\"project_number\" = ? and \"block\" = ?) and \"part\" <= (select max(\"some\".\"key\") as \"last\" from (select \"part\" as \"key\" from \"search_parts\" where (\"project_number\" = ? and \"block\" = ?) order by \"part\" limit ?) as \"some\")",
  cells: (params) => [params.projectNumber, params.block, params.projectNumber, params.block, params.limit],
};

export const removePending: Compiled<typeof source.removePending> = {
  name: 'search-index.removePending',
  text: "delete from \"search_pending\" where (\"project_number\" = ? and \"trace_sequence\" = ? and \"mark\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.projectNumber, params.traceSequence, params.mark])],
};

export const updateDeleted: Compiled<typeof source.updateDeleted> = {
  name: 'search-index.updateDeleted',
  text: "update \"search_blocks\" set \"deleted\" = ?, \"deleted_count\" = ? where (\"project_number\" = ? and \"block\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.deleted, params.deletedCount, params.projectNumber, params.block])],
};

export const updateHead: Compiled<typeof source.updateHead> = {
  name: 'search-index.updateHead',
  text: "update \"search_heads\" set \"generation\" = ?, \"next_block\" = ?, \"written_block\" = ?, \"removed_block\" = ?, \"leased_until\" = ? where \"project_number\" = ?",
  cells: (params) => [params.generation, params.nextBlock, params.writtenBlock ?? null, params.removedBlock ?? null, params.leasedUntilMs, params.projectNumber],
};
