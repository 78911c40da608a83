// Compiled from src/storage/endpoints/questions-sweep.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import type * as source from '../../../src/storage/endpoints/questions-sweep.ts';

export const dropAttempts: Compiled<typeof source.dropAttempts> = {
  name: 'endpoints-sweep.dropAttempts',
  text: "delete from \"webhook_attempts\" where (\"endpoint_number\" = ? and \"fired_at\" = ? and \"id\" = ?)",
  cells: (rows) => [...rows.map((given) => [given.endpointNumber, given.firedAtMs, given.id])],
};

export const dropAttemptsOf: Compiled<typeof source.dropAttemptsOf> = {
  name: 'endpoints-sweep.dropAttemptsOf',
  text: "delete from \"webhook_attempts\" where \"delivery_number\" = ?",
  cells: (rows) => [...rows.map((given) => [given.number])],
};

export const dropDeliveries: Compiled<typeof source.dropDeliveries> = {
  name: 'endpoints-sweep.dropDeliveries',
  text: "delete from \"webhook_deliveries\" where \"number\" = ?",
  cells: (rows) => [...rows.map((given) => [given.number])],
};

export const dropFigures: Compiled<typeof source.dropFigures> = {
  name: 'endpoints-sweep.dropFigures',
  text: "delete from \"webhook_figures\" where (\"endpoint_number\" = ? and \"bucket\" = ?)",
  cells: (rows) => [...rows.map((given) => [given.endpointNumber, given.bucket])],
};

export const dropHours: Compiled<typeof source.dropHours> = {
  name: 'endpoints-sweep.dropHours',
  text: "delete from \"webhook_hours\" where \"hour\" < ?",
  cells: (given) => [given.hour],
};

export const dropReplays: Compiled<typeof source.dropReplays> = {
  name: 'endpoints-sweep.dropReplays',
  text: "delete from \"webhook_replays\" where \"number\" = ?",
  cells: (rows) => [...rows.map((given) => [given.number])],
};

export const holdEnded: Compiled<typeof source.holdEnded> = {
  name: 'endpoints-sweep.holdEnded',
  text: "select \"number\" as \"number\" from \"webhook_deliveries\" where \"ended_at\" < ? order by \"ended_at\" limit ?",
  cells: (given) => [given.beforeMs, given.limit],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const listCancelled: Compiled<typeof source.listCancelled> = {
  name: 'endpoints-sweep.listCancelled',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is not null and (\"delivery\".\"status\" in (1, 3) or (\"delivery\".\"status\" in (2) and \"delivery\".\"due_at\" <= ?)) limit ?",
  cells: (given) => [given.after, given.last, given.nowMs, given.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listExpired: Compiled<typeof source.listExpired> = {
  name: 'endpoints-sweep.listExpired',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is null and \"delivery\".\"queued_at\" < ? and \"delivery\".\"status\" in (1, 3) limit ?",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listExpiredReplayed: Compiled<typeof source.listExpiredReplayed> = {
  name: 'endpoints-sweep.listExpiredReplayed',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is null and \"delivery\".\"replay_number\" is not null and \"delivery\".\"events_from\" < ? and \"delivery\".\"status\" in (1, 3) limit ?",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listGivenUp: Compiled<typeof source.listGivenUp> = {
  name: 'endpoints-sweep.listGivenUp',
  text: "select \"endpoint\".\"number\" as \"endpointNumber\" from \"webhook_states\" as \"state\" cross join \"webhook_endpoints\" as \"endpoint\" where \"state\".\"endpoint_number\" > ? and \"state\".\"endpoint_number\" <= ? and \"endpoint\".\"number\" = \"state\".\"endpoint_number\" and \"state\".\"failing_since\" <= ? and \"state\".\"in_flight\" = 0 and \"endpoint\".\"status\" = 'active' and \"endpoint\".\"archived_at\" is null and not exists (select \"delivery\".\"number\" as \"number\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" in (1, 3) and (\"delivery\".\"run\" < \"endpoint\".\"run\" or \"delivery\".\"due_at\" <= ?)) limit ?",
  cells: (given) => [given.after, given.last, given.beforeMs, given.nowMs, given.limit],
  row: (row: any) => ({
    endpointNumber: row[0],
  }),
};

export const listNumbers: Compiled<typeof source.listNumbers> = {
  name: 'endpoints-sweep.listNumbers',
  text: "select \"number\" as \"number\" from \"webhook_endpoints\" where \"number\" > ? order by \"number\" limit ?",
  cells: (given) => [given.after, given.limit],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const listOldAttempts: Compiled<typeof source.listOldAttempts> = {
  name: 'endpoints-sweep.listOldAttempts',
  text: "select \"attempt\".\"endpoint_number\" as \"endpointNumber\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"id\" as \"id\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_attempts\" as \"attempt\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"attempt\".\"endpoint_number\" = \"endpoint\".\"number\" and \"attempt\".\"fired_at\" < ? limit ?",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row: any) => ({
    endpointNumber: row[0],
    firedAtMs: row[1],
    id: row[2],
  }),
};

export const listOldFigures: Compiled<typeof source.listOldFigures> = {
  name: 'endpoints-sweep.listOldFigures',
  text: "select \"figure\".\"endpoint_number\" as \"endpointNumber\", \"figure\".\"bucket\" as \"bucket\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_figures\" as \"figure\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"figure\".\"endpoint_number\" = \"endpoint\".\"number\" and \"figure\".\"bucket\" < ? limit ?",
  cells: (given) => [given.after, given.last, given.beforeBucket, given.limit],
  row: (row: any) => ({
    endpointNumber: row[0],
    bucket: row[1],
  }),
};

export const listOldReplays: Compiled<typeof source.listOldReplays> = {
  name: 'endpoints-sweep.listOldReplays',
  text: "select \"replay\".\"number\" as \"number\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_replays\" as \"replay\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"replay\".\"endpoint_number\" = \"endpoint\".\"number\" and \"replay\".\"status\" <> 0 and \"replay\".\"completed_at\" < ? limit ?",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row: any) => ({
    number: row[0],
  }),
};
