// Compiled from src/storage/endpoints/queries-ahead.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/endpoints/queries-ahead.ts';

export const correctQueuedAt: Compiled<typeof source.correctQueuedAt> = {
  name: 'endpoints-ahead.correctQueuedAt',
  text: "update \"webhook_deliveries\" set \"queued_at\" = $1 where \"endpoint_number\" = any($2) and \"ended_at\" is null and \"test\" = false and \"queued_at\" > $3",
  cells: (params) => [params.nowMs, params.numbers, params.aheadMs],
};

export const listAttemptedAhead: Compiled<typeof source.listAttemptedAhead> = {
  name: 'endpoints-ahead.listAttemptedAhead',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_attempts\" as \"attempt\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"attempt\".\"endpoint_number\" = \"endpoint\".\"number\" and \"attempt\".\"fired_at\" > $3 and \"delivery\".\"number\" = \"attempt\".\"delivery_number\" and \"delivery\".\"last_attempt_at\" = \"attempt\".\"fired_at\" and \"delivery\".\"due_at\" >= \"attempt\".\"fired_at\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false limit $4",
  cells: (params) => [params.after, params.last, params.aheadMs, params.limit],
  row: (row) => row,
};

export const listDueAhead: Compiled<typeof source.listDueAhead> = {
  name: 'endpoints-ahead.listDueAhead',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_deliveries\" as \"delivery\" where \"endpoint\".\"number\" > $1 and \"endpoint\".\"number\" <= $2 and \"delivery\".\"endpoint_number\" = \"endpoint\".\"number\" and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false and \"delivery\".\"run\" = \"endpoint\".\"run\" and ((\"delivery\".\"status\" in (1) and \"delivery\".\"due_at\" > $3) or (\"delivery\".\"status\" in (2) and \"delivery\".\"due_at\" > $4) or (\"delivery\".\"status\" in (3) and \"delivery\".\"due_at\" > $5)) limit $6",
  cells: (params) => [params.after, params.last, params.aheadMs, params.leaseMaxMs, params.retryMaxMs, params.limit],
  row: (row) => row,
};
