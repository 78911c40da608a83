// Compiled from src/storage/endpoints/queries-due.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { deliveryStatuses } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/endpoints/queries-due.ts';

export const countDead: Compiled<typeof source.countDead> = {
  name: 'endpoints-due.countDead',
  text: "select count(*) as \"count\" from \"webhook_deliveries\" where \"status\" = 4 and \"test\" = false",
  cells: () => [],
  row: (row: any) => ({
    count: row[0],
  }),
};

export const countUnfinished: Compiled<typeof source.countUnfinished> = {
  name: 'endpoints-due.countUnfinished',
  text: "select \"endpoint_number\" as \"endpointNumber\", \"status\" as \"status\", count(*) as \"count\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = false and \"endpoint_number\" in (select value from json_each(?)) group by \"endpoint_number\", \"status\"",
  cells: (params) => [JSON.stringify(params.numbers)],
  row: (row: any) => ({
    endpointNumber: row[0],
    status: deliveryStatuses.value(row[1]),
    count: row[2],
  }),
};

export const dropAttempts: Compiled<typeof source.dropAttempts> = {
  name: 'endpoints-due.dropAttempts',
  text: "delete from \"webhook_attempts\" where (\"endpoint_number\" = ? and \"fired_at\" = ? and \"id\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.endpointNumber, params.firedAtMs, params.id])],
};

export const dropAttemptsOf: Compiled<typeof source.dropAttemptsOf> = {
  name: 'endpoints-due.dropAttemptsOf',
  text: "delete from \"webhook_attempts\" where \"delivery_number\" = ?",
  cells: (rows) => [...rows.map((params) => [params.number])],
};

export const dropDeliveries: Compiled<typeof source.dropDeliveries> = {
  name: 'endpoints-due.dropDeliveries',
  text: "delete from \"webhook_deliveries\" where \"number\" = ?",
  cells: (rows) => [...rows.map((params) => [params.number])],
};

export const dropFigures: Compiled<typeof source.dropFigures> = {
  name: 'endpoints-due.dropFigures',
  text: "delete from \"webhook_figures\" where (\"endpoint_number\" = ? and \"bucket\" = ?)",
  cells: (rows) => [...rows.map((params) => [params.endpointNumber, params.bucket])],
};

export const dropHours: Compiled<typeof source.dropHours> = {
  name: 'endpoints-due.dropHours',
  text: "delete from \"webhook_hours\" where \"hour\" < ?",
  cells: (params) => [params.hour],
};

export const dropReplays: Compiled<typeof source.dropReplays> = {
  name: 'endpoints-due.dropReplays',
  text: "delete from \"webhook_replays\" where \"number\" = ?",
  cells: (rows) => [...rows.map((params) => [params.number])],
};

export const findOldestQueued: Compiled<typeof source.findOldestQueued> = {
  name: 'endpoints-due.findOldestQueued',
  text: "select \"endpoint_number\" as \"endpointNumber\", min(\"queued_at\") as \"oldestAtMs\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = false and \"endpoint_number\" in (select value from json_each(?)) group by \"endpoint_number\"",
  cells: (params) => [JSON.stringify(params.numbers)],
  row: (row: any) => ({
    endpointNumber: row[0],
    oldestAtMs: row[1],
  }),
};

export const findPosition: Compiled<typeof source.findPosition> = {
  name: 'endpoints-due.findPosition',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"state\".\"position\" as \"position\", \"state\".\"subscriptions\" as \"subscriptionsJson\", \"head\".\"seq\" as \"headSeq\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" left join \"log_heads\" as \"head\" on \"head\".\"organization_number\" = \"endpoint\".\"organization_number\" where \"endpoint\".\"number\" = ?",
  cells: (params) => [params.endpointNumber],
  row: (row: any) => ({
    number: row[0],
    organizationNumber: row[1],
    position: row[2],
    subscriptionsJson: row[3],
    headSeq: row[4],
  }),
};

export const listCancelled: Compiled<typeof source.listCancelled> = {
  name: 'endpoints-due.listCancelled',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is not null and (\"delivery\".\"status\" in (1, 3) or (\"delivery\".\"status\" in (2) and \"delivery\".\"due_at\" <= ?)) limit ?",
  cells: (params) => [params.after, params.last, params.nowMs, params.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listDue: Compiled<typeof source.listDue> = {
  name: 'endpoints-due.listDue',
  text: "select \"endpoint\".\"number\" as \"endpointNumber\", \"endpoint\".\"run\" as \"run\", (select coalesce(json_group_array(json_object('status', \"agg\".\"status\", 'number', \"agg\".\"number\", 'fence', \"agg\".\"fence\", 'run', \"agg\".\"run\", 'dueAtMs', \"agg\".\"dueAtMs\", 'replayNumber', \"agg\".\"replayNumber\")), '[]') from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 2 union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 1 and \"delivery\".\"run\" < \"endpoint\".\"run\" order by \"delivery\".\"run\", \"delivery\".\"due_at\" limit ?) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 1 and \"delivery\".\"run\" = \"endpoint\".\"run\" and \"delivery\".\"due_at\" <= ? order by \"delivery\".\"due_at\" limit ?) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 1 and \"delivery\".\"run\" = \"endpoint\".\"run\" and \"delivery\".\"due_at\" > ? order by \"delivery\".\"due_at\" limit 1) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 3 and \"delivery\".\"run\" < \"endpoint\".\"run\" order by \"delivery\".\"run\", \"delivery\".\"due_at\" limit ?) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 3 and \"delivery\".\"run\" = \"endpoint\".\"run\" and \"delivery\".\"due_at\" <= ? order by \"delivery\".\"due_at\" limit ?) as \"part\" union all select \"part\".* from (select \"delivery\".\"status\" as \"status\", \"delivery\".\"number\" as \"number\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"run\" as \"run\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"replay_number\" as \"replayNumber\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" = 3 and \"delivery\".\"run\" = \"endpoint\".\"run\" and \"delivery\".\"due_at\" > ? order by \"delivery\".\"due_at\" limit 1) as \"part\") as agg) as \"found\" from \"webhook_endpoints\" as \"endpoint\" where \"endpoint\".\"number\" in (select value from json_each(?)) and exists (select \"delivery\".\"number\" as \"number\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false)",
  cells: (params) => [params.perEndpointMax, params.nowMs, params.perEndpointMax, params.nowMs, params.perEndpointMax, params.nowMs, params.perEndpointMax, params.nowMs, JSON.stringify(params.numbers)],
  row: (row: any) => ({
    endpointNumber: row[0],
    run: row[1],
    found: JSON.parse(row[2]),
  }),
};

export const listExpired: Compiled<typeof source.listExpired> = {
  name: 'endpoints-due.listExpired',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is null and \"delivery\".\"queued_at\" < ? and \"delivery\".\"status\" in (1, 3) limit ?",
  cells: (params) => [params.after, params.last, params.beforeMs, params.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listExpiredReplayed: Compiled<typeof source.listExpiredReplayed> = {
  name: 'endpoints-due.listExpiredReplayed',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is null and \"delivery\".\"replay_number\" is not null and \"delivery\".\"events_from\" < ? and \"delivery\".\"status\" in (1, 3) limit ?",
  cells: (params) => [params.after, params.last, params.beforeMs, params.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listFailing: Compiled<typeof source.listFailing> = {
  name: 'endpoints-due.listFailing',
  text: "select \"endpoint\".\"number\" as \"endpointNumber\" from \"webhook_states\" as \"state\" cross join \"webhook_endpoints\" as \"endpoint\" where \"state\".\"endpoint_number\" > ? and \"state\".\"endpoint_number\" <= ? and \"endpoint\".\"number\" = \"state\".\"endpoint_number\" and \"state\".\"failing_since\" <= ? and \"state\".\"in_flight\" = 0 and \"endpoint\".\"status\" = 'active' and \"endpoint\".\"archived_at\" is null and not exists (select \"delivery\".\"number\" as \"number\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" in (1, 3) and (\"delivery\".\"run\" < \"endpoint\".\"run\" or \"delivery\".\"due_at\" <= ?)) limit ?",
  cells: (params) => [params.after, params.last, params.beforeMs, params.nowMs, params.limit],
  row: (row: any) => ({
    endpointNumber: row[0],
  }),
};

export const listNumbers: Compiled<typeof source.listNumbers> = {
  name: 'endpoints-due.listNumbers',
  text: "select \"number\" as \"number\" from \"webhook_endpoints\" where \"number\" > ? order by \"number\" limit ?",
  cells: (params) => [params.after, params.limit],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const listOldAttempts: Compiled<typeof source.listOldAttempts> = {
  name: 'endpoints-due.listOldAttempts',
  text: "select \"attempt\".\"endpoint_number\" as \"endpointNumber\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"id\" as \"id\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_attempts\" as \"attempt\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"attempt\".\"endpoint_number\" = \"endpoint\".\"number\" and \"attempt\".\"fired_at\" < ? limit ?",
  cells: (params) => [params.after, params.last, params.beforeMs, params.limit],
  row: (row: any) => ({
    endpointNumber: row[0],
    firedAtMs: row[1],
    id: row[2],
  }),
};

export const listOldFigures: Compiled<typeof source.listOldFigures> = {
  name: 'endpoints-due.listOldFigures',
  text: "select \"figure\".\"endpoint_number\" as \"endpointNumber\", \"figure\".\"bucket\" as \"bucket\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_figures\" as \"figure\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"figure\".\"endpoint_number\" = \"endpoint\".\"number\" and \"figure\".\"bucket\" < ? limit ?",
  cells: (params) => [params.after, params.last, params.beforeBucket, params.limit],
  row: (row: any) => ({
    endpointNumber: row[0],
    bucket: row[1],
  }),
};

export const listOldReplays: Compiled<typeof source.listOldReplays> = {
  name: 'endpoints-due.listOldReplays',
  text: "select \"replay\".\"number\" as \"number\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_replays\" as \"replay\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"replay\".\"endpoint_number\" = \"endpoint\".\"number\" and \"replay\".\"status\" <> 0 and \"replay\".\"completed_at\" < ? limit ?",
  cells: (params) => [params.after, params.last, params.beforeMs, params.limit],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const listPositions: Compiled<typeof source.listPositions> = {
  name: 'endpoints-due.listPositions',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"state\".\"position\" as \"position\", \"state\".\"subscriptions\" as \"subscriptionsJson\", \"head\".\"seq\" as \"headSeq\", \"endpoint\".\"status\" as \"status\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" left join \"log_heads\" as \"head\" on \"head\".\"organization_number\" = \"endpoint\".\"organization_number\" where \"endpoint\".\"archived_at\" is null",
  cells: () => [],
  row: (row: any) => ({
    number: row[0],
    organizationNumber: row[1],
    position: row[2],
    subscriptionsJson: row[3],
    headSeq: row[4],
    status: row[5],
  }),
};

export const lockEnded: Compiled<typeof source.lockEnded> = {
  name: 'endpoints-due.lockEnded',
  text: "select \"number\" as \"number\" from \"webhook_deliveries\" where \"ended_at\" < ? order by \"ended_at\" limit ?",
  cells: (params) => [params.beforeMs, params.limit],
  row: (row: any) => ({
    number: row[0],
  }),
};
