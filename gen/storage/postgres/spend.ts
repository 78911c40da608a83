// Compiled from src/storage/spend/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { bytesArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/spend/queries.ts';

export const findBlockOf: Compiled<typeof source.findBlockOf> = {
  name: 'spend.findBlockOf',
  text: "select \"first_seq\" as \"firstSeq\", \"last_seq\" as \"lastSeq\", \"superseded\" as \"superseded\" from \"spend_blocks\" where \"organization_number\" = $1 and \"first_seq\" <= $2 order by \"first_seq\" desc limit 1",
  cells: (params) => [params.organizationNumber, params.seq],
  row: (row) => row,
};

export const findHead: Compiled<typeof source.findHead> = {
  name: 'spend.findHead',
  text: "select \"spend_heads\".\"organization_number\" as \"organizationNumber\", \"spend_heads\".\"seq\" as \"seq\", \"spend_heads\".\"leased_until\" as \"leasedUntilMs\" from \"spend_heads\" where \"organization_number\" = $1",
  cells: (params) => [params.organizationNumber],
  row: (row) => row,
};

export const findLogHead: Compiled<typeof source.findLogHead> = {
  name: 'spend.findLogHead',
  text: "select \"log_heads\".\"organization_number\" as \"organizationNumber\", \"log_heads\".\"seq\" as \"seq\", \"log_heads\".\"created_at\" as \"createdAtMs\", \"log_heads\".\"last_key_index\" as \"lastKeyIndex\", \"log_heads\".\"resets\" as \"resets\" from \"log_heads\" where \"organization_number\" = $1",
  cells: (params) => [params.organizationNumber],
  row: (row) => row,
};

export const insertBlocks: Compiled<typeof source.insertBlocks> = {
  name: 'spend.insertBlocks',
  text: "insert into \"spend_blocks\" (\"organization_number\", \"first_seq\", \"last_seq\", \"occurred_from\", \"occurred_to\", \"created_to\", \"superseded\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\" from unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[]) as given (v0, v1, v2, v3, v4, v5, v6)",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.firstSeq), int8Array(rows, (params) => params.lastSeq), int8Array(rows, (params) => params.occurredFromMs), int8Array(rows, (params) => params.occurredToMs), int8Array(rows, (params) => params.createdToMs), bytesArray(rows, (params) => params.superseded)],
};

export const insertHead: Compiled<typeof source.insertHead> = {
  name: 'spend.insertHead',
  text: "insert into \"spend_heads\" (\"organization_number\", \"seq\", \"leased_until\") values ($1, $2, $3) on conflict do nothing",
  cells: (params) => [params.organizationNumber, params.seq, params.leasedUntilMs],
};

export const insertParts: Compiled<typeof source.insertParts> = {
  name: 'spend.insertParts',
  text: "insert into \"spend_parts\" (\"organization_number\", \"first_seq\", \"part\", \"content\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\" from unnest($1::int[], $2::bigint[], $3::int[], $4::bytea[]) as given (v0, v1, v2, v3)",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.firstSeq), int4Array(rows, (params) => params.part), bytesArray(rows, (params) => params.content)],
};

export const listBlocks: Compiled<typeof source.listBlocks> = {
  name: 'spend.listBlocks',
  text: "select \"first_seq\" as \"firstSeq\", \"last_seq\" as \"lastSeq\", \"superseded\" as \"superseded\" from \"spend_blocks\" where \"organization_number\" = $1 and \"first_seq\" > $2 and \"first_seq\" <= $3 and \"created_to\" >= $4 and \"occurred_to\" >= $5 and \"occurred_from\" <= $6 order by \"first_seq\" limit $7",
  cells: (params) => [params.organizationNumber, params.afterSeq, params.toSeq, params.createdFromMs, params.fromMs, params.toMs, params.limit],
  row: (row) => row,
};

export const listEnvelopes: Compiled<typeof source.listEnvelopes> = {
  name: 'spend.listEnvelopes',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $1 and \"seq\" > $2 and \"seq\" <= $3 order by \"seq\" limit $4",
  cells: (params) => [params.organizationNumber, params.afterSeq, params.toSeq, params.limit],
  row: (row) => row,
};

export const listHeads: Compiled<typeof source.listHeads> = {
  name: 'spend.listHeads',
  text: "select \"log_heads\".\"organization_number\" as \"organizationNumber\", \"log_heads\".\"seq\" as \"seq\", \"spend_heads\".\"seq\" as \"mark\" from \"log_heads\" left join \"spend_heads\" on \"spend_heads\".\"organization_number\" = \"log_heads\".\"organization_number\" where \"log_heads\".\"organization_number\" > $1 order by \"log_heads\".\"organization_number\" limit $2",
  cells: (params) => [params.after, params.limit],
  row: (row) => row,
};

export const listOldBlocks: Compiled<typeof source.listOldBlocks> = {
  name: 'spend.listOldBlocks',
  text: "select \"organization_number\" as \"organizationNumber\", \"first_seq\" as \"firstSeq\" from \"spend_blocks\" where \"created_to\" < $1 order by \"created_to\" limit $2",
  cells: (params) => [params.beforeMs, params.limit],
  row: (row) => row,
};

export const listParts: Compiled<typeof source.listParts> = {
  name: 'spend.listParts',
  text: "select \"first_seq\" as \"firstSeq\", \"part\" as \"part\", \"content\" as \"content\" from \"spend_parts\" where \"organization_number\" = $1 and \"first_seq\" = any($2) and \"part\" = any($3)",
  cells: (params) => [params.organizationNumber, params.blocks, params.parts],
  row: (row) => row,
};

export const lockHead: Compiled<typeof source.lockHead> = {
  name: 'spend.lockHead',
  text: "select \"spend_heads\".\"organization_number\" as \"organizationNumber\", \"spend_heads\".\"seq\" as \"seq\", \"spend_heads\".\"leased_until\" as \"leasedUntilMs\" from \"spend_heads\" where \"organization_number\" = $1 for update",
  cells: (params) => [params.organizationNumber],
  row: (row) => row,
};

export const removeBlock: Compiled<typeof source.removeBlock> = {
  name: 'spend.removeBlock',
  text: "delete from \"spend_blocks\" where (\"organization_number\" = $1 and \"first_seq\" = $2)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const removeParts: Compiled<typeof source.removeParts> = {
  name: 'spend.removeParts',
  text: "delete from \"spend_parts\" where (\"organization_number\" = $1 and \"first_seq\" = $2)",
  cells: (params) => [params.organizationNumber, params.firstSeq],
};

export const updateHead: Compiled<typeof source.updateHead> = {
  name: 'spend.updateHead',
  text: "update \"spend_heads\" set \"seq\" = $1, \"leased_until\" = $2 where \"organization_number\" = $3",
  cells: (params) => [params.seq, params.leasedUntilMs, params.organizationNumber],
};

export const updateSuperseded: Compiled<typeof source.updateSuperseded> = {
  name: 'spend.updateSuperseded',
  text: "update \"spend_blocks\" set \"superseded\" = \"given\".\"v2\" from unnest($1::int[], $2::bigint[], $3::bytea[]) as given (v0, v1, v2) where (\"organization_number\" = \"given\".\"v0\" and \"first_seq\" = \"given\".\"v1\")",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.firstSeq), bytesArray(rows, (params) => params.superseded)],
};
