// Compiled from src/storage/endpoints/questions-due.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { deliveryStatuses } from '../../../src/storage/rows/webhook-codes.ts';
import type * as source from '../../../src/storage/endpoints/questions-due.ts';

export const countDead: Compiled<typeof source.countDead> = {
  name: 'endpoints-due.countDead',
  text: "select count(*) as \"count\" from \"webhook_deliveries\" where \"status\" = 4 and \"test\" = false",
  cells: () => [],
  row: (row) => row,
};

export const countUnended: Compiled<typeof source.countUnended> = {
  name: 'endpoints-due.countUnended',
  text: "select \"endpoint_number\" as \"endpointNumber\", \"status\" as \"status\", count(*) as \"count\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = false and \"endpoint_number\" = any($1) group by \"endpoint_number\", \"status\"",
  cells: (given) => [given.numbers],
  row: (row: any) => ({
    endpointNumber: row.endpointNumber,
    status: deliveryStatuses.word(row.status),
    count: row.count,
  }),
};

export const findOldestQueued: Compiled<typeof source.findOldestQueued> = {
  name: 'endpoints-due.findOldestQueued',
  text: "select \"endpoint_number\" as \"endpointNumber\", min(\"queued_at\") as \"oldestAtMs\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = false and \"endpoint_number\" = any($1) group by \"endpoint_number\"",
  cells: (given) => [given.numbers],
  row: (row) => row,
};

export const findPlace: Compiled<typeof source.findPlace> = {
  name: 'endpoints-due.findPlace',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"state\".\"position\" as \"position\", \"state\".\"subscriptions\" as \"subscriptionsJson\", \"head\".\"seq\" as \"headSeq\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" left join \"log_heads\" as \"head\" on \"head\".\"organization_number\" = \"endpoint\".\"organization_number\" where \"endpoint\".\"number\" = $1",
  cells: (given) => [given.endpointNumber],
  row: (row) => row,
};

export const listDue: Compiled<typeof source.listDue> = {
  name: 'endpoints-due.listDue',
  text: "select \"asked\".\"number\" as \"endpointNumber\", \"asked\".\"run\" as \"run\", (select coalesce(json_agg(agg), '[]') from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 2 union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 1 and \"delivery\".\"run\" < \"asked\".\"run\" order by \"delivery\".\"run\", \"delivery\".\"due_at\" limit $1) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 1 and \"delivery\".\"run\" = \"asked\".\"run\" and \"delivery\".\"due_at\" <= $2 order by \"delivery\".\"due_at\" limit $3) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 1 and \"delivery\".\"run\" = \"asked\".\"run\" and \"delivery\".\"due_at\" > $4 order by \"delivery\".\"due_at\" limit 1) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 3 and \"delivery\".\"run\" < \"asked\".\"run\" order by \"delivery\".\"run\", \"delivery\".\"due_at\" limit $5) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 3 and \"delivery\".\"run\" = \"asked\".\"run\" and \"delivery\".\"due_at\" <= $6 order by \"delivery\".\"due_at\" limit $7) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 3 and \"delivery\".\"run\" = \"asked\".\"run\" and \"delivery\".\"due_at\" > $8 order by \"delivery\".\"due_at\" limit 1) as \"part\") as agg) as \"found\" from \"webhook_endpoints\" as \"asked\" where \"asked\".\"number\" = any($9) and exists (select \"delivery\".\"number\" as \"number\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"asked\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false)",
  cells: (given) => [given.perEndpointMax, given.nowMs, given.perEndpointMax, given.nowMs, given.perEndpointMax, given.nowMs, given.perEndpointMax, given.nowMs, given.numbers],
  row: (row) => row,
};

export const listPlaces: Compiled<typeof source.listPlaces> = {
  name: 'endpoints-due.listPlaces',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"state\".\"position\" as \"position\", \"state\".\"subscriptions\" as \"subscriptionsJson\", \"head\".\"seq\" as \"headSeq\", \"endpoint\".\"status\" as \"status\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" left join \"log_heads\" as \"head\" on \"head\".\"organization_number\" = \"endpoint\".\"organization_number\" where \"endpoint\".\"archived_at\" is null",
  cells: () => [],
  row: (row) => row,
};
