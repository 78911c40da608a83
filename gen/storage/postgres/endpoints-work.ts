// Compiled from src/storage/endpoints/queries-work.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { deadReasons } from '../../../src/storage/rows/codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/codes.ts';
import { replayCounts } from '../../../src/storage/rows/codes.ts';
import { replayStatuses } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/endpoints/queries-work.ts';

export const drawDeliveryNumbers: Compiled<typeof source.drawDeliveryNumbers> = {
  name: 'endpoints-work.drawDeliveryNumbers',
  text: "select nextval('webhook_deliveries_number_seq') as \"first\", 1 as \"count\" from generate_series(1, $1::integer) as \"drawn\"",
  cells: (params) => [params.count],
  row: (row) => row,
};

export const findTestStart: Compiled<typeof source.findTestStart> = {
  name: 'endpoints-work.findTestStart',
  text: "select \"fired_at\" as \"firedAtMs\" from \"webhook_attempts\" where \"endpoint_number\" = $1 and \"fired_at\" > $2 and \"fired_at\" <= $3 and \"test\" = true order by \"fired_at\" desc limit 1 offset $4",
  cells: (params) => [params.endpointNumber, params.sinceMs, params.untilMs, params.skip],
  row: (row) => row,
};

export const listContents: Compiled<typeof source.listContents> = {
  name: 'endpoints-work.listContents',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"seqs\" as \"seqs\", \"delivery\".\"events_from\" as \"firstMs\", \"delivery\".\"events_to\" as \"lastMs\", (select \"delivery\".\"event_count\" from events\n    where events.organization_number = \"endpoint\".\"organization_number\"\n      and events.created_at = \"delivery\".\"events_from\"\n      and events.seq = (\"delivery\".\"seqs\"::jsonb ->> 0)::bigint) as \"kept\" from \"webhook_deliveries\" as \"delivery\" inner join \"webhook_endpoints\" as \"endpoint\" on \"endpoint\".\"number\" = \"delivery\".\"endpoint_number\" where \"delivery\".\"number\" = any($1)",
  cells: (params) => [params.numbers],
  row: (row: any) => ({
    number: row.number,
    seqs: JSON.parse(row.seqs),
    firstMs: row.firstMs,
    lastMs: row.lastMs,
    kept: row.kept,
  }),
};

export const listDeliveryRows: Compiled<typeof source.listDeliveryRows> = {
  name: 'endpoints-work.listDeliveryRows',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"replay_number\" as \"replayNumber\", \"webhook_deliveries\".\"counted\" as \"counted\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"attempt_id\" as \"attemptId\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"event_count\" as \"eventCount\" from \"webhook_deliveries\" where \"number\" = any($1)",
  cells: (params) => [params.numbers],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.value(row.status),
    replayNumber: row.replayNumber,
    counted: row.counted === null ? null : replayCounts.value(row.counted),
    run: row.run,
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    backoffStartedAtMs: row.backoffStartedAtMs,
    attemptId: row.attemptId,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.value(row.deadReason),
    terminalHint: row.terminalHint,
    responseStatus: row.responseStatus,
    error: row.error,
    test: row.test,
    eventCount: row.eventCount,
  }),
};

export const listEndpointRows: Compiled<typeof source.listEndpointRows> = {
  name: 'endpoints-work.listEndpointRows',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"id\" as \"id\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"endpoint\".\"version\" as \"version\", \"endpoint\".\"max_in_flight\" as \"maxInFlight\", \"endpoint\".\"status\" as \"status\", \"endpoint\".\"disabled_reason\" as \"disabledReason\", \"endpoint\".\"disabled_at\" as \"disabledAtMs\", \"endpoint\".\"destination_version\" as \"destinationVersion\", \"endpoint\".\"run\" as \"run\", \"state\".\"position\" as \"position\", \"state\".\"in_flight\" as \"inFlight\", \"state\".\"subscriptions\" as \"subscriptionsJson\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\", \"endpoint\".\"archived_at\" is not null as \"isArchived\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" where \"endpoint\".\"number\" = any($1)",
  cells: (params) => [params.numbers],
  row: (row) => row,
};

export const listEntries: Compiled<typeof source.listEntries> = {
  name: 'endpoints-work.listEntries',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $1 and \"created_at\" >= $2 and \"seq\" > $3 order by \"seq\" limit $4",
  cells: (params) => [params.organizationNumber, params.firstMs, params.afterSeq, params.limit],
  row: (row) => row,
};

export const listEnvelopes: Compiled<typeof source.listEnvelopes> = {
  name: 'endpoints-work.listEnvelopes',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"events\" as \"log\" where \"organization_number\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and \"seq\" = any($4) order by \"seq\"",
  cells: (params) => [params.organizationNumber, params.firstMs, params.lastMs, params.seqs],
  row: (row) => row,
};

export const listHeads: Compiled<typeof source.listHeads> = {
  name: 'endpoints-work.listHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" = any($1)",
  cells: (params) => [params.numbers],
  row: (row) => row,
};

export const listHours: Compiled<typeof source.listHours> = {
  name: 'endpoints-work.listHours',
  text: "select \"organization_number\" as \"organizationNumber\", \"attempts\" as \"attempts\" from \"webhook_hours\" where \"hour\" = $1 and \"organization_number\" = any($2)",
  cells: (params) => [params.hour, params.numbers],
  row: (row) => row,
};

export const listReplayRows: Compiled<typeof source.listReplayRows> = {
  name: 'endpoints-work.listReplayRows',
  text: "select \"webhook_replays\".\"number\" as \"number\", \"webhook_replays\".\"endpoint_number\" as \"endpointNumber\", \"webhook_replays\".\"position\" as \"position\", \"webhook_replays\".\"to_seq\" as \"toSeq\", \"webhook_replays\".\"enqueued\" as \"enqueued\", \"webhook_replays\".\"delivered\" as \"delivered\", \"webhook_replays\".\"dead\" as \"dead\", \"webhook_replays\".\"status\" as \"status\", \"webhook_replays\".\"completed_at\" as \"completedAtMs\" from \"webhook_replays\" where \"number\" = any($1)",
  cells: (params) => [params.numbers],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    position: row.position,
    toSeq: row.toSeq,
    enqueued: row.enqueued,
    delivered: row.delivered,
    dead: row.dead,
    status: replayStatuses.value(row.status),
    completedAtMs: row.completedAtMs,
  }),
};

export const lockAvailableStates: Compiled<typeof source.lockAvailableStates> = {
  name: 'endpoints-work.lockAvailableStates',
  text: "select \"endpoint_number\" as \"number\" from \"webhook_states\" where \"endpoint_number\" = any($1) order by \"endpoint_number\" for update skip locked",
  cells: (params) => [params.numbers],
  row: (row) => row,
};

export const lockLostTests: Compiled<typeof source.lockLostTests> = {
  name: 'endpoints-work.lockLostTests',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"replay_number\" as \"replayNumber\", \"webhook_deliveries\".\"counted\" as \"counted\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"attempt_id\" as \"attemptId\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"event_count\" as \"eventCount\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = true and \"due_at\" < $1 limit $2 for update skip locked",
  cells: (params) => [params.nowMs, params.limit],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.value(row.status),
    replayNumber: row.replayNumber,
    counted: row.counted === null ? null : replayCounts.value(row.counted),
    run: row.run,
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    backoffStartedAtMs: row.backoffStartedAtMs,
    attemptId: row.attemptId,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.value(row.deadReason),
    terminalHint: row.terminalHint,
    responseStatus: row.responseStatus,
    error: row.error,
    test: row.test,
    eventCount: row.eventCount,
  }),
};

export const lockStates: Compiled<typeof source.lockStates> = {
  name: 'endpoints-work.lockStates',
  text: "select \"endpoint_number\" as \"number\" from \"webhook_states\" where \"endpoint_number\" = any($1) order by \"endpoint_number\" for update",
  cells: (params) => [params.numbers],
  row: (row) => row,
};

export const lockTest: Compiled<typeof source.lockTest> = {
  name: 'endpoints-work.lockTest',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"replay_number\" as \"replayNumber\", \"webhook_deliveries\".\"counted\" as \"counted\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"attempt_id\" as \"attemptId\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"event_count\" as \"eventCount\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = true and \"endpoint_number\" = $1 and \"dispatch_id\" = $2 for update",
  cells: (params) => [params.endpointNumber, params.dispatchId],
  row: (row: any) => ({
    number: row.number,
    endpointNumber: row.endpointNumber,
    dispatchId: row.dispatchId,
    status: deliveryStatuses.value(row.status),
    replayNumber: row.replayNumber,
    counted: row.counted === null ? null : replayCounts.value(row.counted),
    run: row.run,
    attempt: row.attempt,
    failures: row.failures,
    lost: row.lost,
    fence: row.fence,
    dueAtMs: row.dueAtMs,
    backoffStartedAtMs: row.backoffStartedAtMs,
    attemptId: row.attemptId,
    firstAttemptAtMs: row.firstAttemptAtMs,
    lastAttemptAtMs: row.lastAttemptAtMs,
    endedAtMs: row.endedAtMs,
    deadReason: row.deadReason === null ? null : deadReasons.value(row.deadReason),
    terminalHint: row.terminalHint,
    responseStatus: row.responseStatus,
    error: row.error,
    test: row.test,
    eventCount: row.eventCount,
  }),
};
