// Compiled from src/storage/spend/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { unpackEnvelope } from '../../../src/storage/engine/sqlite/compact-envelopes.ts';
import type * as source from '../../../src/storage/spend/queries.ts';

export const findBlockOf: Compiled<typeof source.findBlockOf> = {
  name: 'spend.findBlockOf',
  text: "select \"first_seq\" as \"firstSeq\", \"last_seq\" as \"lastSeq\", \"superseded\" as \"superseded\" from \"spend_blocks\" where \"organization_number\" = ? and \"first_seq\" <= ? order by \"first_seq\" desc limit 1",
  cells: (params) => [params.organizationNumber, params.seq],
  row: (row: any) => ({
    firstSeq: row[0],
    lastSeq: row[1],
    superseded: row[2],
  }),
};

export const findHead: Compiled<typeof source.findHead> = {
  name: 'spend.findHead',
  text: "select \"spend_heads\".\"organization_number\" as \"organizationNumber\", \"spend_heads\".\"seq\" as \"seq\", \"spend_heads\".\"leased_until\" as \"leasedUntilMs\" from \"spend_heads\" where \"organization_number\" = ?",
  cells: (params) => [params.organizationNumber],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
    leasedUntilMs: row[2],
  }),
};

export const findLogHead: Compiled<typeof source.findLogHead> = {
  name: 'spend.findLogHead',
  text: "select \"log_heads\".\"organization_number\" as \"organizationNumber\", \"log_heads\".\"seq\" as \"seq\", \"log_heads\".\"created_at\" as \"createdAtMs\", \"log_heads\".\"last_key_index\" as \"lastKeyIndex\", \"log_heads\".\"resets\" as \"resets\" from \"log_heads\" where \"organization_number\" = ?",
  cells: (params) => [params.organizationNumber],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
    createdAtMs: row[2],
    lastKeyIndex: row[3],
    resets: row[4],
  }),
};

export const insertBlocks: Compiled<typeof source.insertBlocks> = {
  name: 'spend.insertBlocks',
  text: "insert into \"spend_blocks\" (\"organization_number\", \"first_seq\", \"last_seq\", \"occurred_from\", \"occurred_to\", \"created_to\", \"superseded\") values (?, ?, ?, ?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.organizationNumber, params.firstSeq, params.lastSeq, params.occurredFromMs, params.occurredToMs, params.createdToMs, params.superseded])],
};

export const insertHead: Compiled<typeof source.insertHead> = {
  name: 'spend.insertHead',
  text: "insert into \"spend_heads\" (\"organization_number\", \"seq\", \"leased_until\") values (?, ?, ?) on conflict do nothing",
  cells: (params) => [params.organizationNumber, params.seq, params.leasedUntilMs],
};

export const insertParts: Compiled<typeof source.insertParts> = {
  name: 'spend.insertParts',
  text: "insert into \"spend_parts\" (\"organization_number\", \"first_seq\", \"part\", \"content\") values (?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.organizationNumber, params.firstSeq, params.part, params.content])],
};

export const listBlocks: Compiled<typeof source.listBlocks> = {
  name: 'spend.listBlocks',
  text: "select \"first_seq\" as \"firstSeq\", \"last_seq\" as \"lastSeq\", \"superseded\" as \"superseded\" from \"spend_blocks\" where \"organization_number\" = ? and \"first_seq\" > ? and \"first_seq\" <= ? and \"created_to\" >= ? and \"occurred_to\" >= ? and \"occurred_from\" <= ? order by \"first_seq\" limit ?",
  cells: (params) => [params.organizationNumber, params.afterSeq, params.toSeq, params.createdFromMs, params.fromMs, params.toMs, params.limit],
  row: (row: any) => ({
    firstSeq: row[0],
    lastSeq: row[1],
    superseded: row[2],
  }),
};

export const listEnvelopes: Compiled<typeof source.listEnvelopes> = {
  name: 'spend.listEnvelopes',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" > ? and \"seq\" <= ? order by \"seq\" limit ?",
  cells: (params) => [params.organizationNumber, params.afterSeq, params.toSeq, params.limit],
  row: (row: any) => ({
    seq: row[0],
    envelope: unpackEnvelope(row[1]),
  }),
};

export const listHeads: Compiled<typeof source.listHeads> = {
  name: 'spend.listHeads',
  text: "select \"log_heads\".\"organization_number\" as \"organizationNumber\", \"log_heads\".\"seq\" as \"seq\", \"spend_heads\".\"seq\" as \"mark\" from \"log_heads\" left join \"spend_heads\" on \"spend_heads\".\"organization_number\" = \"log_heads\".\"organization_number\" where \"log_heads\".\"organization_number\" > ? order by \"log_heads\".\"organization_number\" limit ?",
  cells: (params) => [params.after, params.limit],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
    mark: row[2],
  }),
};

export const listOldBlocks: Compiled<typeof source.listOldBlocks> = {
  name: 'spend.listOldBlocks',
  text: "select \"organization_number\" as \"organizationNumber\", \"first_seq\" as \"firstSeq\" from \"spend_blocks\" where \"created_to\" < ? order by \"created_to\" limit ?",
  cells: (params) => [params.beforeMs, params.limit],
  row: (row: any) => ({
    organizationNumber: row[0],
    firstSeq: row[1],
  }),
};

export const listParts: Compiled<typeof source.listParts> = {
  name: 'spend.listParts',
  text: "select \"first_seq\" as \"firstSeq\", \"part\" as \"part\", \"content\" as \"content\" from \"spend_parts\" where \"organization_number\" = ? and \"first_seq\" in (select value from json_each(?)) and \"part\" in (select value from json_each(?))",
  cells: (params) => [params.organizationNumber, JSON.stringify(params.blocks), JSON.stringify(params.parts)],
  row: (row: any) => ({
    firstSeq: row[0],
    part: row[1],
    content: row[2],
  }),
};

export const lockHead: Compiled<typeof source.lockHead> = {
  name: 'spend.lockHead',
  text: "select \"spend_heads\".\"organization_number\" as \"organizationNumber\", \"spend_heads\".\"seq\" as \"seq\", \"spend_heads\".\"leased_until\" as \"leasedUntilMs\" from \"spend_heads\" where \"organization_number\" = ?",
  cells: (params) => [params.organizationNumber],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
    leasedUntilMs: row[2],
  }),
};

export const removeBlock: Compiled<typeof source.removeBlock> = {
  name: 'spend.removeBlock',
  text: "delete from \"spend_blocks\" where (\"organization_number\" = ? and \"first_seq\" = ?)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'spend.removeParts',
  text: "delete from \"spend_parts\" where (\"organization_number\" = ? and \"first_seq\" = ?)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const updateHead: Compiled<typeof source.updateHead> = {
  name: 'spend.updateHead',
  text: "update \"spend_heads\" set \"seq\" = ?, \"leased_until\" = ? where \"organization_number\" = ?",
  cells: (params) => [params.seq, params.leasedUntilMs, params.organizationNumber],
};

export const updateSuperseded: Compiled<typeof source.updateSuperseded> = {
  name: 'spend.updateSuperseded',
  text: "update \"spend_blocks\" set \"superseded\" = ? where (\"organization_number\" = ? and \"first_seq\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.superseded, params.organizationNumber, params.firstSeq])],
};
