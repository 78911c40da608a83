// Compiled from src/storage/endpoints/questions-log.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/endpoints/questions-log.ts';

export const listEntries: Compiled<typeof source.listEntries> = {
  name: 'endpoints-log.listEntries',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" > ? order by \"seq\" limit ?",
  cells: (given) => [given.organizationNumber, given.afterSeq, given.limit],
  row: (row: any) => ({
    seq: row[0],
    envelope: row[1],
  }),
};

export const listEnvelopes: Compiled<typeof source.listEnvelopes> = {
  name: 'endpoints-log.listEnvelopes',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" in (select value from json_each(?)) order by \"seq\"",
  cells: (given) => [given.organizationNumber, JSON.stringify(given.seqs)],
  row: (row: any) => ({
    seq: row[0],
    envelope: row[1],
  }),
};

export const listHeads: Compiled<typeof source.listHeads> = {
  name: 'endpoints-log.listHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\"",
  cells: () => [],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
  }),
};
