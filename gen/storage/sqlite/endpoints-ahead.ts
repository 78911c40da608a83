// Compiled from src/storage/endpoints/queries-ahead.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/endpoints/queries-ahead.ts';

export const correctQueuedAt: Compiled<typeof source.correctQueuedAt> = {
  name: 'endpoints-ahead.correctQueuedAt',
  text: "update \"webhook_deliveries\" set \"queued_at\" = ? where \"endpoint_number\" in (select value from json_each(?)) and \"ended_at\" is null and \"test\" = false and \"queued_at\" > ?",
  cells: (params) => [params.nowMs, JSON.stringify(params.numbers), params.aheadMs],
};

export const listAttemptedAhead: Compiled<typeof source.listAttemptedAhead> = {
  name: 'endpoints-ahead.listAttemptedAhead',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_attempts\" as \"attempt\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"attempt\".\"endpoint_number\" = \"endpoint\".\"number\" and \"attempt\".\"fired_at\" > ? and \"delivery\".\"number\" = \"attempt\".\"delivery_number\" and \"delivery\".\"last_attempt_at\" = \"attempt\".\"fired_at\" and \"delivery\".\"due_at\" >= \"attempt\".\"fired_at\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false limit ?",
  cells: (params) => [params.after, params.last, params.aheadMs, params.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};

export const listDueAhead: Compiled<typeof source.listDueAhead> = {
  name: 'endpoints-ahead.listDueAhead',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > ? and \"endpoint\".\"number\" <= ? and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"run\" = \"endpoint\".\"run\" and ((\"delivery\".\"status\" in (1) and \"delivery\".\"due_at\" > ?) or (\"delivery\".\"status\" in (2) and \"delivery\".\"due_at\" > ?) or (\"delivery\".\"status\" in (3) and \"delivery\".\"due_at\" > ?)) limit ?",
  cells: (params) => [params.after, params.last, params.aheadMs, params.leaseMaxMs, params.retryMaxMs, params.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
  }),
};
