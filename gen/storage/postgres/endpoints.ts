// Compiled from src/storage/endpoints/questions.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { attemptOutcomes } from '../../../src/storage/rows/webhook-codes.ts';
import { deadReasons } from '../../../src/storage/rows/webhook-codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/webhook-codes.ts';
import type * as source from '../../../src/storage/endpoints/questions.ts';

export const findChange: Compiled<typeof source.findChange> = {
  name: 'endpoints.findChange',
  text: "select \"number\" as \"change\" from \"webhook_changes\" where \"id\" = $1",
  cells: () => [1],
  row: (row) => row,
};

export const findDelivery: Compiled<typeof source.findDelivery> = {
  name: 'endpoints.findDelivery',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\", \"delivery\".\"dispatch_id\" as \"dispatchId\", \"delivery\".\"status\" as \"status\", \"delivery\".\"attempt\" as \"attempt\", \"delivery\".\"failures\" as \"failures\", \"delivery\".\"lost\" as \"lost\", \"delivery\".\"ladder_started_at\" as \"ladderStartedAtMs\", \"delivery\".\"run\" as \"run\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"ended_at\" as \"endedAtMs\", \"delivery\".\"dead_reason\" as \"deadReason\", \"replay\".\"id\" as \"replayId\", \"delivery\".\"test\" as \"test\", \"delivery\".\"event_ids\" as \"eventIdsJson\", \"delivery\".\"events_from\" as \"eventsFromMs\", \"delivery\".\"created_at\" as \"createdAtMs\", \"delivery\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"delivery\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"delivery\".\"response_status\" as \"responseStatus\", \"delivery\".\"error\" as \"error\", \"delivery\".\"terminal_hint\" as \"terminalHint\" from \"webhook_deliveries\" as \"delivery\" left join \"webhook_replays\" as \"replay\" on \"replay\".\"number\" = \"delivery\".\"replay_number\" where \"delivery\".\"endpoint_number\" = $1 and \"delivery\".\"dispatch_id\" = $2",
  cells: (given) => [given.endpointNumber, given.dispatchId],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.word(row.status),
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    ladderStartedAtMs: row.ladderStartedAtMs,
    run: row.run,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.word(row.deadReason),
    replayId: row.replayId,
    test: row.test,
    eventIdsJson: row.eventIdsJson,
    eventsFromMs: row.eventsFromMs,
    createdAtMs: row.createdAtMs,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    responseStatus: row.responseStatus,
    error: row.error,
    terminalHint: row.terminalHint,
  }),
};

export const findEndpoint: Compiled<typeof source.findEndpoint> = {
  name: 'endpoints.findEndpoint',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"id\" as \"id\", \"endpoint\".\"organization_id\" as \"organizationId\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"endpoint\".\"destination_kind\" as \"destinationKind\", \"endpoint\".\"url\" as \"url\", \"endpoint\".\"sqs\" as \"sqs\", \"endpoint\".\"sqs_secret\" as \"sqsSecret\", \"endpoint\".\"enabled_events\" as \"enabledEvents\", \"endpoint\".\"status\" as \"status\", \"endpoint\".\"disabled_reason\" as \"disabledReason\", \"endpoint\".\"disabled_at\" as \"disabledAtMs\", \"endpoint\".\"max_batch_size\" as \"maxBatchSize\", \"endpoint\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"endpoint\".\"max_in_flight\" as \"maxInFlight\", \"endpoint\".\"description\" as \"description\", \"endpoint\".\"secret\" as \"secret\", \"endpoint\".\"previous_secret\" as \"previousSecret\", \"endpoint\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"endpoint\".\"destination_version\" as \"destinationVersion\", \"endpoint\".\"run\" as \"run\", \"endpoint\".\"version\" as \"version\", \"endpoint\".\"created_at\" as \"createdAtMs\", \"endpoint\".\"updated_at\" as \"updatedAtMs\", \"endpoint\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" where \"endpoint\".\"organization_id\" = $1 and \"endpoint\".\"archived_at\" is null and \"endpoint\".\"id\" = $2",
  cells: (given) => [given.organizationId, given.id],
  row: (row) => row,
};

export const findFigures: Compiled<typeof source.findFigures> = {
  name: 'endpoints.findFigures',
  text: "select \"endpoint\".\"status\" as \"status\", (select min(\"delivery\".\"queued_at\") as \"oldestAtMs\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = $1 and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false) as \"oldestAtMs\", (select count(*) as \"count\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = $2 and \"delivery\".\"status\" = 4 and \"delivery\".\"test\" = false) as \"dead\", (select sum(\"figure\".\"finished\") as \"sum\" from \"webhook_figures\" as \"figure\" where \"figure\".\"endpoint_number\" = $3 and \"figure\".\"bucket\" >= $4) as \"finished\", (select sum(\"figure\".\"succeeded\") as \"sum\" from \"webhook_figures\" as \"figure\" where \"figure\".\"endpoint_number\" = $5 and \"figure\".\"bucket\" >= $6) as \"succeeded\", (select coalesce(json_agg(agg), '[]') from (select \"delivery\".\"status\" as \"status\", count(*) as \"count\" from \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"endpoint_number\" = $7 and \"delivery\".\"ended_at\" is null and \"delivery\".\"test\" = false group by \"delivery\".\"status\") as agg) as \"unfinished\", (select coalesce(json_agg(agg), '[]') from (select \"attempt\".\"latency_ms\" as \"latencyMs\" from \"webhook_attempts\" as \"attempt\" where \"attempt\".\"endpoint_number\" = $8 and \"attempt\".\"fired_at\" >= $9 and \"attempt\".\"fired_at\" <= $10 and \"attempt\".\"latency_ms\" is not null and \"attempt\".\"test\" = false order by \"attempt\".\"fired_at\" desc, \"attempt\".\"id\" desc limit $11) as agg) as \"latencies\" from \"webhook_endpoints\" as \"endpoint\" where \"endpoint\".\"number\" = $12",
  cells: (given) => [given.endpointNumber, given.endpointNumber, given.endpointNumber, given.bucket, given.endpointNumber, given.bucket, given.endpointNumber, given.endpointNumber, given.sinceMs, given.untilMs, given.limit, given.endpointNumber],
  row: (row) => row,
};

export const listAttempts: Compiled<typeof source.listAttempts> = {
  name: 'endpoints.listAttempts',
  text: "select \"attempt\".\"id\" as \"id\", \"delivery\".\"dispatch_id\" as \"dispatchId\", \"attempt\".\"attempt\" as \"attempt\", \"delivery\".\"event_ids\" as \"eventIdsJson\", \"attempt\".\"outcome\" as \"outcome\", \"attempt\".\"response_status\" as \"responseStatus\", \"attempt\".\"latency_ms\" as \"latencyMs\", \"attempt\".\"error\" as \"error\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"response_body\" as \"responseBody\", \"attempt\".\"test\" as \"test\", \"attempt\".\"terminal_hint\" as \"terminalHint\" from \"webhook_attempts\" as \"attempt\" cross join \"webhook_deliveries\" as \"delivery\" where \"delivery\".\"number\" = \"attempt\".\"delivery_number\" and \"attempt\".\"endpoint_number\" = $1 and (\"attempt\".\"fired_at\", \"attempt\".\"id\") < ($2, $3) order by \"attempt\".\"fired_at\" desc, \"attempt\".\"id\" desc limit $4",
  cells: (given) => [given.endpointNumber, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    id: row.id,
    dispatchId: row.dispatchId,
    attempt: row.attempt,
    eventIdsJson: row.eventIdsJson,
    outcome: attemptOutcomes.word(row.outcome),
    responseStatus: row.responseStatus,
    latencyMs: row.latencyMs,
    error: row.error,
    firedAtMs: row.firedAtMs,
    responseBody: row.responseBody,
    test: row.test,
    terminalHint: row.terminalHint,
  }),
};

export const listAttemptsOf: Compiled<typeof source.listAttemptsOf> = {
  name: 'endpoints.listAttemptsOf',
  text: "select \"attempt\".\"id\" as \"id\", \"delivery\".\"dispatch_id\" as \"dispatchId\", \"attempt\".\"attempt\" as \"attempt\", \"delivery\".\"event_ids\" as \"eventIdsJson\", \"attempt\".\"outcome\" as \"outcome\", \"attempt\".\"response_status\" as \"responseStatus\", \"attempt\".\"latency_ms\" as \"latencyMs\", \"attempt\".\"error\" as \"error\", \"attempt\".\"fired_at\" as \"firedAtMs\", \"attempt\".\"response_body\" as \"responseBody\", \"attempt\".\"test\" as \"test\", \"attempt\".\"terminal_hint\" as \"terminalHint\" from \"webhook_deliveries\" as \"delivery\" cross join \"webhook_attempts\" as \"attempt\" where \"attempt\".\"delivery_number\" = \"delivery\".\"number\" and \"delivery\".\"endpoint_number\" = $1 and \"delivery\".\"dispatch_id\" = $2 order by \"attempt\".\"attempt\" desc limit $3",
  cells: (given) => [given.endpointNumber, given.dispatchId, given.limit],
  row: (row: any) => ({
    id: row.id,
    dispatchId: row.dispatchId,
    attempt: row.attempt,
    eventIdsJson: row.eventIdsJson,
    outcome: attemptOutcomes.word(row.outcome),
    responseStatus: row.responseStatus,
    latencyMs: row.latencyMs,
    error: row.error,
    firedAtMs: row.firedAtMs,
    responseBody: row.responseBody,
    test: row.test,
    terminalHint: row.terminalHint,
  }),
};

export const listChanged: Compiled<typeof source.listChanged> = {
  name: 'endpoints.listChanged',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"id\" as \"id\", \"endpoint\".\"organization_id\" as \"organizationId\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"endpoint\".\"destination_kind\" as \"destinationKind\", \"endpoint\".\"url\" as \"url\", \"endpoint\".\"sqs\" as \"sqs\", \"endpoint\".\"sqs_secret\" as \"sqsSecret\", \"endpoint\".\"enabled_events\" as \"enabledEvents\", \"endpoint\".\"status\" as \"status\", \"endpoint\".\"disabled_reason\" as \"disabledReason\", \"endpoint\".\"disabled_at\" as \"disabledAtMs\", \"endpoint\".\"max_batch_size\" as \"maxBatchSize\", \"endpoint\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"endpoint\".\"max_in_flight\" as \"maxInFlight\", \"endpoint\".\"description\" as \"description\", \"endpoint\".\"secret\" as \"secret\", \"endpoint\".\"previous_secret\" as \"previousSecret\", \"endpoint\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"endpoint\".\"destination_version\" as \"destinationVersion\", \"endpoint\".\"run\" as \"run\", \"endpoint\".\"version\" as \"version\", \"endpoint\".\"created_at\" as \"createdAtMs\", \"endpoint\".\"updated_at\" as \"updatedAtMs\", \"endpoint\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\", \"state\".\"position\" as \"position\", \"state\".\"in_flight\" as \"inFlight\", \"state\".\"subscriptions\" as \"subscriptionsJson\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" where \"endpoint\".\"change_number\" > $1 order by \"endpoint\".\"change_number\"",
  cells: (given) => [given.afterChange],
  row: (row) => row,
};

export const listDead: Compiled<typeof source.listDead> = {
  name: 'endpoints.listDead',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"endpoint_number\" as \"endpointNumber\", \"delivery\".\"dispatch_id\" as \"dispatchId\", \"delivery\".\"status\" as \"status\", \"delivery\".\"attempt\" as \"attempt\", \"delivery\".\"failures\" as \"failures\", \"delivery\".\"lost\" as \"lost\", \"delivery\".\"ladder_started_at\" as \"ladderStartedAtMs\", \"delivery\".\"run\" as \"run\", \"delivery\".\"fence\" as \"fence\", \"delivery\".\"due_at\" as \"dueAtMs\", \"delivery\".\"ended_at\" as \"endedAtMs\", \"delivery\".\"dead_reason\" as \"deadReason\", \"replay\".\"id\" as \"replayId\", \"delivery\".\"test\" as \"test\", \"delivery\".\"event_ids\" as \"eventIdsJson\", \"delivery\".\"events_from\" as \"eventsFromMs\", \"delivery\".\"created_at\" as \"createdAtMs\", \"delivery\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"delivery\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"delivery\".\"response_status\" as \"responseStatus\", \"delivery\".\"error\" as \"error\", \"delivery\".\"terminal_hint\" as \"terminalHint\" from \"webhook_deliveries\" as \"delivery\" left join \"webhook_replays\" as \"replay\" on \"replay\".\"number\" = \"delivery\".\"replay_number\" where \"delivery\".\"endpoint_number\" = $1 and \"delivery\".\"status\" = 4 and \"delivery\".\"test\" = false and (\"delivery\".\"ended_at\", \"delivery\".\"dispatch_id\") < ($2, $3) order by \"delivery\".\"ended_at\" desc, \"delivery\".\"dispatch_id\" desc limit $4",
  cells: (given) => [given.endpointNumber, given.atMs, given.id, given.limit],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.word(row.status),
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    ladderStartedAtMs: row.ladderStartedAtMs,
    run: row.run,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.word(row.deadReason),
    replayId: row.replayId,
    test: row.test,
    eventIdsJson: row.eventIdsJson,
    eventsFromMs: row.eventsFromMs,
    createdAtMs: row.createdAtMs,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    responseStatus: row.responseStatus,
    error: row.error,
    terminalHint: row.terminalHint,
  }),
};

export const listEndpoints: Compiled<typeof source.listEndpoints> = {
  name: 'endpoints.listEndpoints',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"id\" as \"id\", \"endpoint\".\"organization_id\" as \"organizationId\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"endpoint\".\"destination_kind\" as \"destinationKind\", \"endpoint\".\"url\" as \"url\", \"endpoint\".\"sqs\" as \"sqs\", \"endpoint\".\"sqs_secret\" as \"sqsSecret\", \"endpoint\".\"enabled_events\" as \"enabledEvents\", \"endpoint\".\"status\" as \"status\", \"endpoint\".\"disabled_reason\" as \"disabledReason\", \"endpoint\".\"disabled_at\" as \"disabledAtMs\", \"endpoint\".\"max_batch_size\" as \"maxBatchSize\", \"endpoint\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"endpoint\".\"max_in_flight\" as \"maxInFlight\", \"endpoint\".\"description\" as \"description\", \"endpoint\".\"secret\" as \"secret\", \"endpoint\".\"previous_secret\" as \"previousSecret\", \"endpoint\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"endpoint\".\"destination_version\" as \"destinationVersion\", \"endpoint\".\"run\" as \"run\", \"endpoint\".\"version\" as \"version\", \"endpoint\".\"created_at\" as \"createdAtMs\", \"endpoint\".\"updated_at\" as \"updatedAtMs\", \"endpoint\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" where \"endpoint\".\"organization_id\" = $1 and \"endpoint\".\"archived_at\" is null and (\"endpoint\".\"created_at\", \"endpoint\".\"id\") > ($2, $3) order by \"endpoint\".\"created_at\", \"endpoint\".\"id\" limit $4",
  cells: (given) => [given.organizationId, given.createdAtMs, given.id, given.limit],
  row: (row) => row,
};

export const listLiving: Compiled<typeof source.listLiving> = {
  name: 'endpoints.listLiving',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"id\" as \"id\", \"endpoint\".\"organization_id\" as \"organizationId\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"endpoint\".\"destination_kind\" as \"destinationKind\", \"endpoint\".\"url\" as \"url\", \"endpoint\".\"sqs\" as \"sqs\", \"endpoint\".\"sqs_secret\" as \"sqsSecret\", \"endpoint\".\"enabled_events\" as \"enabledEvents\", \"endpoint\".\"status\" as \"status\", \"endpoint\".\"disabled_reason\" as \"disabledReason\", \"endpoint\".\"disabled_at\" as \"disabledAtMs\", \"endpoint\".\"max_batch_size\" as \"maxBatchSize\", \"endpoint\".\"max_batch_delay_ms\" as \"maxBatchDelayMs\", \"endpoint\".\"max_in_flight\" as \"maxInFlight\", \"endpoint\".\"description\" as \"description\", \"endpoint\".\"secret\" as \"secret\", \"endpoint\".\"previous_secret\" as \"previousSecret\", \"endpoint\".\"previous_secret_until\" as \"previousSecretUntilMs\", \"endpoint\".\"destination_version\" as \"destinationVersion\", \"endpoint\".\"run\" as \"run\", \"endpoint\".\"version\" as \"version\", \"endpoint\".\"created_at\" as \"createdAtMs\", \"endpoint\".\"updated_at\" as \"updatedAtMs\", \"endpoint\".\"archived_at\" as \"archivedAtMs\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\", \"state\".\"position\" as \"position\", \"state\".\"in_flight\" as \"inFlight\", \"state\".\"subscriptions\" as \"subscriptionsJson\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" where \"endpoint\".\"change_number\" > $1 and \"endpoint\".\"archived_at\" is null order by \"endpoint\".\"change_number\"",
  cells: (given) => [given.afterChange],
  row: (row) => row,
};

export const listRunningReplays: Compiled<typeof source.listRunningReplays> = {
  name: 'endpoints.listRunningReplays',
  text: "select \"replay\".\"endpoint_number\" as \"endpointNumber\", \"replay\".\"number\" as \"number\", \"replay\".\"id\" as \"id\", \"replay\".\"position\" as \"position\", \"replay\".\"to_seq\" as \"toSeq\", \"replay\".\"mask\" as \"mask\", \"replay\".\"created_at\" as \"createdAtMs\" from \"webhook_endpoints\" as \"endpoint\" cross join \"webhook_replays\" as \"replay\" where \"endpoint\".\"change_number\" > $1 and \"replay\".\"endpoint_number\" = \"endpoint\".\"number\" and \"replay\".\"status\" = 0 order by \"replay\".\"number\"",
  cells: (given) => [given.afterChange],
  row: (row) => row,
};
