// Compiled from src/storage/events/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/events/queries.ts';

export const countEvents: Compiled<typeof source.countEvents> = {
  name: 'events.countEvents',
  text: "select count(*) filter(where (cast($1 as integer) >> \"type\") & 1 = 1) as \"matched\", min(\"created_at\") filter(where (cast($2 as integer) >> \"type\") & 1 = 1) as \"firstMatchedAtMs\", min(\"seq\") filter(where (cast($3 as integer) >> \"type\") & 1 = 1) as \"firstMatchedSeq\", min(\"seq\") as \"firstSeq\", max(\"seq\") as \"lastSeq\" from \"events\" where \"organization_number\" = $4 and \"created_at\" >= $5 and \"created_at\" <= $6 and (\"created_at\", \"id\") > ($7, $8) and (\"created_at\", \"id\") <= ($9, $10) and \"seq\" >= $11 and \"seq\" <= $12",
  cells: (params) => [params.codes, params.codes, params.codes, params.organizationNumber, params.fromMs, params.toMs, params.afterMs, params.afterId, params.untilMs, params.untilId, params.fromSeq, params.toSeq],
  row: (row) => row,
};

export const findEnds: Compiled<typeof source.findEnds> = {
  name: 'events.findEnds',
  text: "select (select \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $1 and \"seq\" >= $2 order by \"seq\" limit 1) as \"first\", (select \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $3 and \"seq\" >= $4 order by \"seq\" limit 1) as \"last\"",
  cells: (params) => [params.organizationNumber, params.fromSeq, params.organizationNumber, params.toSeq],
  row: (row) => row,
};

export const findHead: Compiled<typeof source.findHead> = {
  name: 'events.findHead',
  text: "select \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" = $1",
  cells: (params) => [params.organizationNumber],
  row: (row) => row,
};

export const findOldestAdmitted: Compiled<typeof source.findOldestAdmitted> = {
  name: 'events.findOldestAdmitted',
  text: "select \"received_at\" as \"receivedAtMs\" from \"requests\" where \"state\" = 2 order by \"received_at\" limit 1",
  cells: () => [],
  row: (row) => row,
};

export const findPositionAfter: Compiled<typeof source.findPositionAfter> = {
  name: 'events.findPositionAfter',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\" from \"events\" where \"organization_number\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\", \"id\") > ($4, $5) order by \"created_at\", \"id\" limit 1 offset $6",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.afterMs, params.afterId, params.skipped],
  row: (row) => row,
};

export const listCompletedEvents: Compiled<typeof source.listCompletedEvents> = {
  name: 'events.listCompletedEvents',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" where \"events\".\"organization_number\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\", \"id\") < ($4, $5) and \"type\" = 1 order by \"created_at\" desc, \"id\" desc limit $6",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.atMs, params.id, params.limit],
  row: (row) => row,
};

export const listEvents: Compiled<typeof source.listEvents> = {
  name: 'events.listEvents',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" where \"events\".\"organization_number\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\", \"id\") < ($4, $5) and (\"type\" = 1 or \"type\" = 2) order by \"created_at\" desc, \"id\" desc limit $6",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.atMs, params.id, params.limit],
  row: (row) => row,
};

export const listSettledEvents: Compiled<typeof source.listSettledEvents> = {
  name: 'events.listSettledEvents',
  text: "select \"created_at\" as \"createdAtMs\", \"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" where \"events\".\"organization_number\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\", \"id\") < ($4, $5) and \"type\" = 2 order by \"created_at\" desc, \"id\" desc limit $6",
  cells: (params) => [params.organizationNumber, params.fromMs, params.toMs, params.atMs, params.id, params.limit],
  row: (row) => row,
};
