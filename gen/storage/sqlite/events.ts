// Compiled from src/storage/events/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { unpackEnvelope } from '../../../src/storage/engine/sqlite/compact-envelopes.ts';
import type * as source from '../../../src/storage/events/queries.ts';

export const countEvents: Compiled<typeof source.countEvents> = {
  name: 'events.countEvents',
  text: "select count(*) filter(where (cast(? as integer) >> \"type\") & 1 = 1) as \"matched\", min(\"created_at\") filter(where (cast(? as integer) >> \"type\") & 1 = 1) as \"firstMatchedAtMs\", min(\"seq\") filter(where (cast(? as integer) >> \"type\") & 1 = 1) as \"firstMatchedSeq\", min(\"seq\") as \"firstSeq\", max(\"seq\") as \"lastSeq\" from \"events\" where \"organization_number\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\", \"id\") > (?, ?) and (\"created_at\", \"id\") <= (?, ?) and \"seq\" >= ? and \"seq\" <= ?",
  cells: (params) => [params.codes, params.codes, params.codes, params.organizationNumber, params.fromMs, params.toMs, params.afterMs, params.afterId, params.untilMs, params.untilId, params.fromSeq, params.toSeq],
  row: (row: any) => ({
    matched: row[0],
    firstMatchedAtMs: row[1],
    firstMatchedSeq: row[2],
    firstSeq: row[3],
    lastSeq: row[4],
  }),
};

export const findEnds: Compiled<typeof source.findEnds> = {
  name: 'events.findEnds',
  text: "select (select \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" >= ? order by \"seq\" limit 1) as \"first\", (select \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" >= ? order by \"seq\" limit 1) as \"last\"",
  cells: (params) => [params.organizationNumber, params.fromSeq, params.organizationNumber, params.toSeq],
  row: (row: any) => ({
    first: row[0] === null ? null : unpackEnvelope(row[0]),
    last: row[1] === null ? null : unpackEnvelope(row[1]),
  }),
};

export const findHead: Compiled<typeof source.findHead> = {
  name: 'events.findHead',
  text: "select \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" = ?",
  cells: (params) => [params.organizationNumber],
  row: (row: any) => ({
    seq: row[0],
  }),
};

export const findOldestAdmitted: Compiled<typeof source.findOldestAdmitted> = {
  name: 'events.findOldestAdmitted',
  text: "select \"received_at\" as \"receivedAtMs\" from \"requests\" where \"state\" = 2 order by \"received_at\" limit 1",
  cells: () => [],
  row: (row: any) => ({
    receivedAtMs: row[0],
  }),
};

export const findPositionAfter: Compiled<typeof source.findPositionAfter> = {
  name: 'events.findPositionAfter',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\" from \"events\" where \"organization_number\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\", \"id\") > (?, ?) order by \"created_at\", \"id\" limit 1 offset ?",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.afterMs, params.afterId, params.skipped],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
  }),
};

export const listCompletedEvents: Compiled<typeof source.listCompletedEvents> = {
  name: 'events.listCompletedEvents',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" inner join \"envelopes\" on \"envelopes\".\"organization_number\" = \"events\".\"organization_number\" and \"envelopes\".\"seq\" = \"events\".\"seq\" where \"events\".\"organization_number\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\", \"id\") < (?, ?) and \"type\" = 1 order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.atMs, params.id, params.limit],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
    envelope: unpackEnvelope(row[2]),
  }),
};

export const listEvents: Compiled<typeof source.listEvents> = {
  name: 'events.listEvents',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" inner join \"envelopes\" on \"envelopes\".\"organization_number\" = \"events\".\"organization_number\" and \"envelopes\".\"seq\" = \"events\".\"seq\" where \"events\".\"organization_number\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\", \"id\") < (?, ?) and (\"type\" = 1 or \"type\" = 2) order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.atMs, params.id, params.limit],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
    envelope: unpackEnvelope(row[2]),
  }),
};

export const listSettledEvents: Compiled<typeof source.listSettledEvents> = {
  name: 'events.listSettledEvents',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" inner join \"envelopes\" on \"envelopes\".\"organization_number\" = \"events\".\"organization_number\" and \"envelopes\".\"seq\" = \"events\".\"seq\" where \"events\".\"organization_number\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\", \"id\") < (?, ?) and \"type\" = 2 order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.atMs, params.id, params.limit],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
    envelope: unpackEnvelope(row[2]),
  }),
};
