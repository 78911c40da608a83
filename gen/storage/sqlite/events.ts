// Compiled from src/storage/events/questions.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/events/questions.ts';

export const findOldestAdmitted: Compiled<typeof source.findOldestAdmitted> = {
  name: 'events.findOldestAdmitted',
  text: "select \"received_at\" as \"receivedAtMs\" from \"requests\" where \"state\" = 2 order by \"received_at\" limit 1",
  cells: () => [],
  row: (row: any) => ({
    receivedAtMs: row[0],
  }),
};

export const listCompletedEvents: Compiled<typeof source.listCompletedEvents> = {
  name: 'events.listCompletedEvents',
  text: "select \"log\".\"created_at\" as \"createdAtMs\", \"log\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events_by_time\" as \"log\" inner join \"events\" on \"events\".\"organization_number\" = \"log\".\"organization_number\" and \"events\".\"seq\" = \"log\".\"seq\" where \"log\".\"organization_number\" = ? and \"log\".\"created_at\" >= ? and (\"log\".\"created_at\", \"log\".\"id\") < (?, ?) and \"log\".\"type\" = 1 order by \"log\".\"created_at\" desc, \"log\".\"id\" desc limit ?",
  cells: (given) => [given.organizationNumber, given.fromMs, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
    envelope: row[2],
  }),
};

export const listEvents: Compiled<typeof source.listEvents> = {
  name: 'events.listEvents',
  text: "select \"log\".\"created_at\" as \"createdAtMs\", \"log\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events_by_time\" as \"log\" inner join \"events\" on \"events\".\"organization_number\" = \"log\".\"organization_number\" and \"events\".\"seq\" = \"log\".\"seq\" where \"log\".\"organization_number\" = ? and \"log\".\"created_at\" >= ? and (\"log\".\"created_at\", \"log\".\"id\") < (?, ?) and (\"log\".\"type\" = 1 or \"log\".\"type\" = 2) order by \"log\".\"created_at\" desc, \"log\".\"id\" desc limit ?",
  cells: (given) => [given.organizationNumber, given.fromMs, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
    envelope: row[2],
  }),
};

export const listSettledEvents: Compiled<typeof source.listSettledEvents> = {
  name: 'events.listSettledEvents',
  text: "select \"log\".\"created_at\" as \"createdAtMs\", \"log\".\"id\" as \"id\", \"envelope\" as \"envelope\" from \"events_by_time\" as \"log\" inner join \"events\" on \"events\".\"organization_number\" = \"log\".\"organization_number\" and \"events\".\"seq\" = \"log\".\"seq\" where \"log\".\"organization_number\" = ? and \"log\".\"created_at\" >= ? and (\"log\".\"created_at\", \"log\".\"id\") < (?, ?) and \"log\".\"type\" = 2 order by \"log\".\"created_at\" desc, \"log\".\"id\" desc limit ?",
  cells: (given) => [given.organizationNumber, given.fromMs, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    createdAtMs: row[0],
    id: row[1],
    envelope: row[2],
  }),
};
