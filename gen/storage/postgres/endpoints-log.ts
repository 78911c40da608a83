// Compiled from src/storage/endpoints/questions-log.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/endpoints/questions-log.ts';

export const listEntries: Compiled<typeof source.listEntries> = {
  name: 'endpoints-log.listEntries',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $1 and \"created_at\" >= $2 and \"seq\" > $3 order by \"seq\" limit $4",
  cells: (given) => [given.organizationNumber, given.firstMs, given.afterSeq, given.limit],
  row: (row) => row,
};

export const listEnvelopes: Compiled<typeof source.listEnvelopes> = {
  name: 'endpoints-log.listEnvelopes',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and \"seq\" = any($4) order by \"seq\"",
  cells: (given) => [given.organizationNumber, given.firstMs, given.lastMs, given.seqs],
  row: (row) => row,
};

export const listHeads: Compiled<typeof source.listHeads> = {
  name: 'endpoints-log.listHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\"",
  cells: () => [],
  row: (row) => row,
};
