// Compiled from src/storage/endpoints/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { attemptOutcomes } from '../../../src/storage/rows/codes.ts';
import { deadReasons } from '../../../src/storage/rows/codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/endpoints/queries.ts';

export const findChange: Compiled<typeof source.findChange> = {
  name: 'endpoints.findChange',
  text: "select \"number\" as \"change\" from \"webhook_changes\" where \"id\" = $1",
  cells: () => [1],
  row: (row) => row,
};

export const findDelivery: Compiled<typeof source.findDelivery> = {
  name: 'endpoints.findDelivery',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"created_at\" as \"createdAtMs\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"events_from\" as \"eventsFromMs\", \"webhook_deliveries\".\"event_ids\" as \"eventIdsJson\", \"replay\".\"id\" as \"replayId\" from \"webhook_deliveries\" left join \"webhook_replays\" as \"replay\" on \"replay\".\"number\" = \"webhook_deliveries\".\"replay_number\" where \"webhook_deliveries\".\"endpoint_number\" = $1 and \"webhook_deliveries\".\"dispatch_id\" = $2",
  cells: (params) => [params.endpointNumber, params.dispatchId],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.value(row.status),
    run: row.run,
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    backoffStartedAtMs: row.backoffStartedAtMs,
    createdAtMs: row.createdAtMs,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.value(row.deadReason),
    terminalHint: row.terminalHint,
    responseStatus: row.responseStatus,
    error: row.error,
    test: row.test,
    eventsFromMs: row.eventsFromMs,
    eventIdsJson: row.eventIdsJson,
    replayId: row.replayId,
  }),
};

export const findEndpoint: Compiled<typeof source.findEndpoint> = {
  name: 'endpoints.findEndpoint',
  text: "select \"webhook_endpoints\".\"number\" as \"number\", \"webhook_endpoints\".\"id\" as \"id\", \"webhook_endpoints\".\"organization_id\" as \"organizationId\", \"webhook_endpoints\".\"organization_number\" as \"organizationNumber\", \"webhook_endpoints\".\"destination_kind\" as \"destinationKind\", \"webhook_endpoints\".\"url\" as \"url\", \"webhook_endpoints\".\"sqs\" as \"sqs\", \"webhook_endpoints\".\"sqs_secret\" as \"sqsSecret\", \"webhook_endpoints\".\"enabled_events\" as \"enabledEvents\", \"webhook_endpoints\".\"status\" as \"status\", \"webhook_endpoints\".\"disabled_reason\" as \"disabledReason\", \"webhook_endpoints\".\"disabled_at\" as \"disabledAtMs\", \"webhook_endpoints\".\"max_batch_size\" as \"maxBatchSize\", \"webhook_endpoints\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"webhook_endpoints\".\"max_in_flight\" as \"maxInFlight\", \"webhook_endpoints\".\"description\" as \"description\", \"webhook_endpoints\".\"secret\" as \"secret\", \"webhook_endpoints\".\"previous_secret\" as \"previousSecret\", \"webhook_endpoints\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"webhook_endpoints\".\"destination_version\" as \"destinationVersion\", \"webhook_endpoints\".\"run\" as \"run\", \"webhook_endpoints\".\"version\" as \"version\", \"webhook_endpoints\".\"created_at\" as \"createdAtMs\", \"webhook_endpoints\".\"updated_at\" as \"updatedAtMs\", \"webhook_endpoints\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\" from \"webhook_endpoints\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"webhook_endpoints\".\"number\" where \"webhook_endpoints\".\"organization_id\" = $1 and \"webhook_endpoints\".\"archived_at\" is null and \"webhook_endpoints\".\"id\" = $2",
  cells: (params) => [params.organizationId, params.id],
  row: (row) => row,
};

export const findFigures: Compiled<typeof source.findFigures> = {
  name: 'endpoints.findFigures',
  text: "select \"endpoint\".\"status\" as \"status\", (select min(\"delivery\".\"queued_at\") as \"oldestAtMs\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = $1 and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false) as \"oldestAtMs\", (select count(*) as \"count\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = $2 and \"delivery\".\"status\" = 4 and \"delivery\".\"test\" = false) as \"dead\", (select sum(\"figure\".\"finished\") as \"sum\" from \"webhook_figures\" as \"figure\" where \"figure\".\"endpoint_number\" = $3 and \"figure\".\"bucket\" >= $4) as \"finished\", (select sum(\"figure\".\"succeeded\") as \"sum\" from \"webhook_figures\" as \"figure\" where \"figure\".\"endpoint_number\" = $5 and \"figure\".\"bucket\" >= $6) as \"succeeded\", (select coalesce(json_agg(agg), '[]') from (select \"delivery\".\"status\" as \"status\", count(*) as \"count\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = $7 and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false group by \"delivery\".\"status\") as agg) as \"unfinished\", (select coalesce(json_agg(agg), '[]') from (select \"attempt\".\"latency_ms\" as \"latencyMs\" from \"webhook_attempts\" as \"attempt\" where \"attempt\".\"endpoint_number\" = $8 and \"attempt\".\"fired_at\" >= $9 and \"attempt\".\"fired_at\" <= $10 and \"attempt\".\"latency_ms\" is not null and \"attempt\".\"test\" = false order by \"attempt\".\"fired_at\" desc, \"attempt\".\"id\" desc limit $11) as agg) as \"latencies\" from \"webhook_endpoints\" as \"endpoint\" where \"endpoint\".\"number\" = $12",
  cells: (params) => [params.endpointNumber, params.endpointNumber, params.endpointNumber, params.bucket, params.endpointNumber, params.bucket, params.endpointNumber, params.endpointNumber, params.sinceMs, params.untilMs, params.limit, params.endpointNumber],
  row: (row) => row,
};

export const listAttempts: Compiled<typeof source.listAttempts> = {
  name: 'endpoints.listAttempts',
  text: "select \"attempt\".\"id\" as \"id\", \"attempt\".\"attempt\" as \"attempt\", \"attempt\".\"outcome\" as \"outcome\", \"attempt\".\"response_status\" as \"responseStatus\", \"attempt\".\"latency_ms\" as \"latencyMs\", \"attempt\".\"error\" as \"error\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"response_body\" as \"responseBody\", \"attempt\".\"test\" as \"test\", \"attempt\".\"terminal_hint\" as \"terminalHint\", \"delivery\".\"dispatch_id\" as \"dispatchId\", \"delivery\".\"event_ids\" as \"eventIdsJson\" from \"webhook_attempts\" as \"attempt\" cross join \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"number\" = \"attempt\".\"delivery_number\" and \"attempt\".\"endpoint_number\" = $1 and (\"attempt\".\"fired_at\", \"attempt\".\"id\") < ($2, $3) order by \"attempt\".\"fired_at\" desc, \"attempt\".\"id\" desc limit $4",
  cells: (params) => [params.endpointNumber, params.atMs, params.id, params.limit],
  row: (row: any) => ({
    id: row.id,
    attempt: row.attempt,
    outcome: attemptOutcomes.value(row.outcome),
    responseStatus: row.responseStatus,
    latencyMs: row.latencyMs,
    error: row.error,
    firedAtMs: row.firedAtMs,
    responseBody: row.responseBody,
    test: row.test,
    terminalHint: row.terminalHint,
    dispatchId: row.dispatchId,
    eventIdsJson: row.eventIdsJson,
  }),
};

export const listAttemptsOf: Compiled<typeof source.listAttemptsOf> = {
  name: 'endpoints.listAttemptsOf',
  text: "select \"attempt\".\"id\" as \"id\", \"attempt\".\"attempt\" as \"attempt\", \"attempt\".\"outcome\" as \"outcome\", \"attempt\".\"response_status\" as \"responseStatus\", \"attempt\".\"latency_ms\" as \"latencyMs\", \"attempt\".\"error\" as \"error\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"response_body\" as \"responseBody\", \"attempt\".\"test\" as \"test\", \"attempt\".\"terminal_hint\" as \"terminalHint\", \"delivery\".\"dispatch_id\" as \"dispatchId\", \"delivery\".\"event_ids\" as \"eventIdsJson\" from \"webhook_deliveries\" as \"delivery\" cross join \"webhook_attempts\" as \"attempt\" where \"attempt\".\"delivery_number\" = \"delivery\".\"number\" and \"delivery\".\"endpoint_number\" = $1 and \"delivery\".\"dispatch_id\" = $2 order by \"attempt\".\"attempt\" desc limit $3",
  cells: (params) => [params.endpointNumber, params.dispatchId, params.limit],
  row: (row: any) => ({
    id: row.id,
    attempt: row.attempt,
    outcome: attemptOutcomes.value(row.outcome),
    responseStatus: row.responseStatus,
    latencyMs: row.latencyMs,
    error: row.error,
    firedAtMs: row.firedAtMs,
    responseBody: row.responseBody,
    test: row.test,
    terminalHint: row.terminalHint,
    dispatchId: row.dispatchId,
    eventIdsJson: row.eventIdsJson,
  }),
};

export const listChanged: Compiled<typeof source.listChanged> = {
  name: 'endpoints.listChanged',
  text: "select \"webhook_endpoints\".\"number\" as \"number\", \"webhook_endpoints\".\"id\" as \"id\", \"webhook_endpoints\".\"organization_id\" as \"organizationId\", \"webhook_endpoints\".\"organization_number\" as \"organizationNumber\", \"webhook_endpoints\".\"destination_kind\" as \"destinationKind\", \"webhook_endpoints\".\"url\" as \"url\", \"webhook_endpoints\".\"sqs\" as \"sqs\", \"webhook_endpoints\".\"sqs_secret\" as \"sqsSecret\", \"webhook_endpoints\".\"enabled_events\" as \"enabledEvents\", \"webhook_endpoints\".\"status\" as \"status\", \"webhook_endpoints\".\"disabled_reason\" as \"disabledReason\", \"webhook_endpoints\".\"disabled_at\" as \"disabledAtMs\", \"webhook_endpoints\".\"max_batch_size\" as \"maxBatchSize\", \"webhook_endpoints\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"webhook_endpoints\".\"max_in_flight\" as \"maxInFlight\", \"webhook_endpoints\".\"description\" as \"description\", \"webhook_endpoints\".\"secret\" as \"secret\", \"webhook_endpoints\".\"previous_secret\" as \"previousSecret\", \"webhook_endpoints\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"webhook_endpoints\".\"destination_version\" as \"destinationVersion\", \"webhook_endpoints\".\"run\" as \"run\", \"webhook_endpoints\".\"version\" as \"version\", \"webhook_endpoints\".\"created_at\" as \"createdAtMs\", \"webhook_endpoints\".\"updated_at\" as \"updatedAtMs\", \"webhook_endpoints\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\", \"state\".\"position\" as \"position\", \"state\".\"in_flight\" as \"inFlight\", \"state\".\"subscriptions\" as \"subscriptionsJson\" from \"webhook_endpoints\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"webhook_endpoints\".\"number\" where \"webhook_endpoints\".\"change_number\" > $1 order by \"webhook_endpoints\".\"change_number\"",
  cells: (params) => [params.afterChange],
  row: (row) => row,
};

export const listDead: Compiled<typeof source.listDead> = {
  name: 'endpoints.listDead',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"created_at\" as \"createdAtMs\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"events_from\" as \"eventsFromMs\", \"webhook_deliveries\".\"event_ids\" as \"eventIdsJson\", \"replay\".\"id\" as \"replayId\" from \"webhook_deliveries\" left join \"webhook_replays\" as \"replay\" on \"replay\".\"number\" = \"webhook_deliveries\".\"replay_number\" where \"webhook_deliveries\".\"endpoint_number\" = $1 and \"webhook_deliveries\".\"status\" = 4 and \"webhook_deliveries\".\"test\" = false and (\"webhook_deliveries\".\"ended_at\", \"webhook_deliveries\".\"dispatch_id\") < ($2, $3) order by \"webhook_deliveries\".\"ended_at\" desc, \"webhook_deliveries\".\"dispatch_id\" desc limit $4",
  cells: (params) => [params.endpointNumber, params.atMs, params.id, params.limit],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.value(row.status),
    run: row.run,
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    backoffStartedAtMs: row.backoffStartedAtMs,
    createdAtMs: row.createdAtMs,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.value(row.deadReason),
    terminalHint: row.terminalHint,
    responseStatus: row.responseStatus,
    error: row.error,
    test: row.test,
    eventsFromMs: row.eventsFromMs,
    eventIdsJson: row.eventIdsJson,
    replayId: row.replayId,
  }),
};

export const listEndpoints: Compiled<typeof source.listEndpoints> = {
  name: 'endpoints.listEndpoints',
  text: "select \"webhook_endpoints\".\"number\" as \"number\", \"webhook_endpoints\".\"id\" as \"id\", \"webhook_endpoints\".\"organization_id\" as \"organizationId\", \"webhook_endpoints\".\"organization_number\" as \"organizationNumber\", \"webhook_endpoints\".\"destination_kind\" as \"destinationKind\", \"webhook_endpoints\".\"url\" as \"url\", \"webhook_endpoints\".\"sqs\" as \"sqs\", \"webhook_endpoints\".\"sqs_secret\" as \"sqsSecret\", \"webhook_endpoints\".\"enabled_events\" as \"enabledEvents\", \"webhook_endpoints\".\"status\" as \"status\", \"webhook_endpoints\".\"disabled_reason\" as \"disabledReason\", \"webhook_endpoints\".\"disabled_at\" as \"disabledAtMs\", \"webhook_endpoints\".\"max_batch_size\" as \"maxBatchSize\", \"webhook_endpoints\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"webhook_endpoints\".\"max_in_flight\" as \"maxInFlight\", \"webhook_endpoints\".\"description\" as \"description\", \"webhook_endpoints\".\"secret\" as \"secret\", \"webhook_endpoints\".\"previous_secret\" as \"previousSecret\", \"webhook_endpoints\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"webhook_endpoints\".\"destination_version\" as \"destinationVersion\", \"webhook_endpoints\".\"run\" as \"run\", \"webhook_endpoints\".\"version\" as \"version\", \"webhook_endpoints\".\"created_at\" as \"createdAtMs\", \"webhook_endpoints\".\"updated_at\" as \"updatedAtMs\", \"webhook_endpoints\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\" from \"webhook_endpoints\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"webhook_endpoints\".\"number\" where \"webhook_endpoints\".\"organization_id\" = $1 and \"webhook_endpoints\".\"archived_at\" is null and (\"webhook_endpoints\".\"created_at\", \"webhook_endpoints\".\"id\") > ($2, $3) order by \"webhook_endpoints\".\"created_at\", \"webhook_endpoints\".\"id\" limit $4",
  cells: (params) => [params.organizationId, params.createdAtMs, params.id, params.limit],
  row: (row) => row,
};

export const listLive: Compiled<typeof source.listLive> = {
  name: 'endpoints.listLive',
  text: "select \"webhook_endpoints\".\"number\" as \"number\", \"webhook_endpoints\".\"id\" as \"id\", \"webhook_endpoints\".\"organization_id\" as \"organizationId\", \"webhook_endpoints\".\"organization_number\" as \"organizationNumber\", \"webhook_endpoints\".\"destination_kind\" as \"destinationKind\", \"webhook_endpoints\".\"url\" as \"url\", \"webhook_endpoints\".\"sqs\" as \"sqs\", \"webhook_endpoints\".\"sqs_secret\" as \"sqsSecret\", \"webhook_endpoints\".\"enabled_events\" as \"enabledEvents\", \"webhook_endpoints\".\"status\" as \"status\", \"webhook_endpoints\".\"disabled_reason\" as \"disabledReason\", \"webhook_endpoints\".\"disabled_at\" as \"disabledAtMs\", \"webhook_endpoints\".\"max_batch_size\" as \"maxBatchSize\", \"webhook_endpoints\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"webhook_endpoints\".\"max_in_flight\" as \"maxInFlight\", \"webhook_endpoints\".\"description\" as \"description\", \"webhook_endpoints\".\"secret\" as \"secret\", \"webhook_endpoints\".\"previous_secret\" as \"previousSecret\", \"webhook_endpoints\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"webhook_endpoints\".\"destination_version\" as \"destinationVersion\", \"webhook_endpoints\".\"run\" as \"run\", \"webhook_endpoints\".\"version\" as \"version\", \"webhook_endpoints\".\"created_at\" as \"createdAtMs\", \"webhook_endpoints\".\"updated_at\" as \"updatedAtMs\", \"webhook_endpoints\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\", \"state\".\"position\" as \"position\", \"state\".\"in_flight\" as \"inFlight\", \"state\".\"subscriptions\" as \"subscriptionsJson\" from \"webhook_endpoints\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"webhook_endpoints\".\"number\" where \"webhook_endpoints\".\"change_number\" > $1 and \"webhook_endpoints\".\"archived_at\" is null order by \"webhook_endpoints\".\"change_number\"",
  cells: (params) => [params.afterChange],
  row: (row) => row,
};

export const listRunningReplays: Compiled<typeof source.listRunningReplays> = {
  name: 'endpoints.listRunningReplays',
  text: "select \"replay\".\"endpoint_number\" as \"endpointNumber\", \"replay\".\"number\" as \"number\", \"replay\".\"id\" as \"id\", \"replay\".\"position\" as \"position\", \"replay\".\"to_seq\" as \"toSeq\", \"replay\".\"mask\" as \"mask\", \"replay\".\"created_at\" as \"createdAtMs\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_replays\" as \"replay\" where \"endpoint\".\"change_number\" > $1 and \"replay\".\"endpoint_number\" = \"endpoint\".\"number\" and \"replay\".\"status\" = 0 order by \"replay\".\"number\"",
  cells: (params) => [params.afterChange],
  row: (row) => row,
};
