// Compiled from src/storage/endpoints/questions-sweep.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/endpoints/questions-sweep.ts';

export const dropAttempts: Compiled<typeof source.dropAttempts> = {
  name: 'endpoints-sweep.dropAttempts',
  text: "delete from \"webhook_attempts\" using unnest($1::int[], $2::bigint[], $3::text[]) as given (v0, v1, v2) where (\"endpoint_number\" = \"given\".\"v0\" and \"fired_at\" = \"given\".\"v1\" and \"id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (given) => given.endpointNumber), int8Array(rows, (given) => given.firedAtMs), textArray(rows, (given) => given.id)],
};

export const dropAttemptsOf: Compiled<typeof source.dropAttemptsOf> = {
  name: 'endpoints-sweep.dropAttemptsOf',
  text: "delete from \"webhook_attempts\" using unnest($1::bigint[]) as given (v0) where \"delivery_number\" = \"given\".\"v0\"",
  cells: (rows) => [int8Array(rows, (given) => given.number)],
};

export const dropDeliveries: Compiled<typeof source.dropDeliveries> = {
  name: 'endpoints-sweep.dropDeliveries',
  text: "delete from \"webhook_deliveries\" using unnest($1::bigint[]) as given (v0) where \"number\" = \"given\".\"v0\"",
  cells: (rows) => [int8Array(rows, (given) => given.number)],
};

export const dropFigures: Compiled<typeof source.dropFigures> = {
  name: 'endpoints-sweep.dropFigures',
  text: "delete from \"webhook_figures\" using unnest($1::int[], $2::bigint[]) as given (v0, v1) where (\"endpoint_number\" = \"given\".\"v0\" and \"bucket\" = \"given\".\"v1\")",
  cells: (rows) => [int4Array(rows, (given) => given.endpointNumber), int8Array(rows, (given) => given.bucket)],
};

export const dropHours: Compiled<typeof source.dropHours> = {
  name: 'endpoints-sweep.dropHours',
  text: "delete from \"webhook_hours\" where \"hour\" < $1",
  cells: (given) => [given.hour],
};

export const dropReplays: Compiled<typeof source.dropReplays> = {
  name: 'endpoints-sweep.dropReplays',
  text: "delete from \"webhook_replays\" using unnest($1::int[]) as given (v0) where \"number\" = \"given\".\"v0\"",
  cells: (rows) => [int4Array(rows, (given) => given.number)],
};

export const holdEnded: Compiled<typeof source.holdEnded> = {
  name: 'endpoints-sweep.holdEnded',
  text: "select \"number\" as \"number\" from \"webhook_deliveries\" where \"ended_at\" < $1 order by \"ended_at\" limit $2 for update skip locked",
  cells: (given) => [given.beforeMs, given.limit],
  row: (row) => row,
};

export const listCancelled: Compiled<typeof source.listCancelled> = {
  name: 'endpoints-sweep.listCancelled',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is not null and (\"delivery\".\"status\" in (1, 3) or (\"delivery\".\"status\" in (2) and \"delivery\".\"due_at\" <= $3)) limit $4",
  cells: (given) => [given.after, given.last, given.nowMs, given.limit],
  row: (row) => row,
};

export const listExpired: Compiled<typeof source.listExpired> = {
  name: 'endpoints-sweep.listExpired',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is null and \"delivery\".\"queued_at\" < $3 and \"delivery\".\"status\" in (1, 3) limit $4",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row) => row,
};

export const listExpiredReplayed: Compiled<typeof source.listExpiredReplayed> = {
  name: 'endpoints-sweep.listExpiredReplayed',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"endpoint\".\"archived_at\" is null and \"delivery\".\"replay_number\" is not null and \"delivery\".\"events_from\" < $3 and \"delivery\".\"status\" in (1, 3) limit $4",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row) => row,
};

export const listGivenUp: Compiled<typeof source.listGivenUp> = {
  name: 'endpoints-sweep.listGivenUp',
  text: "select \"endpoint\".\"number\" as \"endpointNumber\" from \"webhook_states\" as \"state\" cross join \"webhook_endpoints\" as \"endpoint\" where \"state\".\"endpoint_number\" > $1 and \"state\".\"endpoint_number\" <= $2 and \"endpoint\".\"number\" = \"state\".\"endpoint_number\" and \"state\".\"failing_since\" <= $3 and \"state\".\"in_flight\" = 0 and \"endpoint\".\"status\" = 'active' and \"endpoint\".\"archived_at\" is null and not exists (select \"delivery\".\"number\" as \"number\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"status\" in (1, 3) and (\"delivery\".\"run\" < \"endpoint\".\"run\" or \"delivery\".\"due_at\" <= $4)) limit $5",
  cells: (given) => [given.after, given.last, given.beforeMs, given.nowMs, given.limit],
  row: (row) => row,
};

export const listNumbers: Compiled<typeof source.listNumbers> = {
  name: 'endpoints-sweep.listNumbers',
  text: "select \"number\" as \"number\" from \"webhook_endpoints\" where \"number\" > $1 order by \"number\" limit $2",
  cells: (given) => [given.after, given.limit],
  row: (row) => row,
};

export const listOldAttempts: Compiled<typeof source.listOldAttempts> = {
  name: 'endpoints-sweep.listOldAttempts',
  text: "select \"attempt\".\"endpoint_number\" as \"endpointNumber\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"id\" as \"id\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_attempts\" as \"attempt\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"attempt\".\"endpoint_number\" = \"endpoint\".\"number\" and \"attempt\".\"fired_at\" < $3 limit $4",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row) => row,
};

export const listOldFigures: Compiled<typeof source.listOldFigures> = {
  name: 'endpoints-sweep.listOldFigures',
  text: "select \"figure\".\"endpoint_number\" as \"endpointNumber\", \"figure\".\"bucket\" as \"bucket\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_figures\" as \"figure\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"figure\".\"endpoint_number\" = \"endpoint\".\"number\" and \"figure\".\"bucket\" < $3 limit $4",
  cells: (given) => [given.after, given.last, given.beforeBucket, given.limit],
  row: (row) => row,
};

export const listOldReplays: Compiled<typeof source.listOldReplays> = {
  name: 'endpoints-sweep.listOldReplays',
  text: "select \"replay\".\"number\" as \"number\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_replays\" as \"replay\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"replay\".\"endpoint_number\" = \"endpoint\".\"number\" and \"replay\".\"status\" <> 0 and \"replay\".\"completed_at\" < $3 limit $4",
  cells: (given) => [given.after, given.last, given.beforeMs, given.limit],
  row: (row) => row,
};
