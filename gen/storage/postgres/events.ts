// Compiled from src/storage/events/questions.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/events/questions.ts';

export const findOldestAdmitted: Compiled<typeof source.findOldestAdmitted> = {
  name: 'events.findOldestAdmitted',
  text: "select \"received_at\" as \"receivedAtMs\" from \"requests\" where \"state\" = 2 order by \"received_at\" limit 1",
  cells: () => [],
  row: (row) => row,
};

export const listCompletedEvents: Compiled<typeof source.listCompletedEvents> = {
  name: 'events.listCompletedEvents',
  text: "select \"log\".\"created_at\" as \"createdAtMs\", \"log\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"log\".\"created_at\" <= $1 and \"log\".\"organization_number\" = $2 and \"log\".\"created_at\" >= $3 and (\"log\".\"created_at\", \"log\".\"id\") < ($4, $5) and \"log\".\"type\" = 1 order by \"log\".\"created_at\" desc, \"log\".\"id\" desc limit $6",
  cells: (given) => [given.toMs, given.organizationNumber, given.fromMs, given.atMs, given.id, given.limit],
  row: (row) => row,
};

export const listEvents: Compiled<typeof source.listEvents> = {
  name: 'events.listEvents',
  text: "select \"log\".\"created_at\" as \"createdAtMs\", \"log\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"log\".\"created_at\" <= $1 and \"log\".\"organization_number\" = $2 and \"log\".\"created_at\" >= $3 and (\"log\".\"created_at\", \"log\".\"id\") < ($4, $5) and (\"log\".\"type\" = 1 or \"log\".\"type\" = 2) order by \"log\".\"created_at\" desc, \"log\".\"id\" desc limit $6",
  cells: (given) => [given.toMs, given.organizationNumber, given.fromMs, given.atMs, given.id, given.limit],
  row: (row) => row,
};

export const listSettledEvents: Compiled<typeof source.listSettledEvents> = {
  name: 'events.listSettledEvents',
  text: "select \"log\".\"created_at\" as \"createdAtMs\", \"log\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"log\".\"created_at\" <= $1 and \"log\".\"organization_number\" = $2 and \"log\".\"created_at\" >= $3 and (\"log\".\"created_at\", \"log\".\"id\") < ($4, $5) and \"log\".\"type\" = 2 order by \"log\".\"created_at\" desc, \"log\".\"id\" desc limit $6",
  cells: (given) => [given.toMs, given.organizationNumber, given.fromMs, given.atMs, given.id, given.limit],
  row: (row) => row,
};
