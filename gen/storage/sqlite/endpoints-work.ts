// Compiled from src/storage/endpoints/queries-work.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { deadReasons } from '../../../src/storage/rows/codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/codes.ts';
import { replayCounts } from '../../../src/storage/rows/codes.ts';
import { replayStatuses } from '../../../src/storage/rows/codes.ts';
import { unpackEnvelope } from '../../../src/storage/engine/sqlite/compact-envelopes.ts';
import type * as source from '../../../src/storage/endpoints/queries-work.ts';

export const drawDeliveryNumbers: Compiled<typeof source.drawDeliveryNumbers> = {
  name: 'endpoints-work.drawDeliveryNumbers',
  text: "select ifnull((select seq from sqlite_sequence where name = 'webhook_deliveries'), 0) + 1 as \"first\", ? as \"count\"",
  cells: (params) => [params.count],
  row: (row: any) => ({
    first: row[0],
    count: row[1],
  }),
};

export const findTestStart: Compiled<typeof source.findTestStart> = {
  name: 'endpoints-work.findTestStart',
  text: "select \"fired_at\" as \"firedAtMs\" from \"webhook_attempts\" where \"endpoint_number\" = ? and \"fired_at\" > ? and \"fired_at\" <= ? and \"test\" = true order by \"fired_at\" desc limit 1 offset ?",
  cells: (params) => [params.endpointNumber, params.sinceMs, params.untilMs, params.skip],
  row: (row: any) => ({
    firedAtMs: row[0],
  }),
};

export const listContents: Compiled<typeof source.listContents> = {
  name: 'endpoints-work.listContents',
  text: "select \"delivery\".\"number\" as \"number\", \"delivery\".\"seqs\" as \"seqs\", \"delivery\".\"events_from\" as \"firstMs\", \"delivery\".\"events_to\" as \"lastMs\", (select count(*) from envelopes\n    where envelopes.organization_number = \"endpoint\".\"organization_number\"\n      and envelopes.seq in (select value from json_each(\"delivery\".\"seqs\"))) as \"kept\" from \"webhook_deliveries\" as \"delivery\" inner join \"webhook_endpoints\" as \"endpoint\" on \"endpoint\".\"number\" = \"delivery\".\"endpoint_number\" where \"delivery\".\"number\" = ?",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    number: row[0],
    seqs: JSON.parse(row[1]),
    firstMs: row[2],
    lastMs: row[3],
    kept: row[4],
  }),
};

export const listDeliveryRows: Compiled<typeof source.listDeliveryRows> = {
  name: 'endpoints-work.listDeliveryRows',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"replay_number\" as \"replayNumber\", \"webhook_deliveries\".\"counted\" as \"counted\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"attempt_id\" as \"attemptId\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"event_count\" as \"eventCount\" from \"webhook_deliveries\" where \"number\" = ?",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
    dispatchId: row[2],
    status: deliveryStatuses.value(row[3]),
    replayNumber: row[4],
    counted: row[5] === null ? null : replayCounts.value(row[5]),
    run: row[6],
    attempt: row[7],
    failures: row[8],
    lost: row[9],
    fence: row[10],
    dueAtMs: row[11],
    backoffStartedAtMs: row[12],
    attemptId: row[13],
    firstAttemptAtMs: row[14],
    lastAttemptAtMs: row[15],
    endedAtMs: row[16],
    deadReason: row[17] === null ? null : deadReasons.value(row[17]),
    terminalHint: row[18] === 1,
    responseStatus: row[19],
    error: row[20],
    test: row[21] === 1,
    eventCount: row[22],
  }),
};

export const listEndpointRows: Compiled<typeof source.listEndpointRows> = {
  name: 'endpoints-work.listEndpointRows',
  text: "select \"endpoint\".\"number\" as \"number\", \"endpoint\".\"id\" as \"id\", \"endpoint\".\"organization_number\" as \"organizationNumber\", \"endpoint\".\"version\" as \"version\", \"endpoint\".\"max_in_flight\" as \"maxInFlight\", \"endpoint\".\"status\" as \"status\", \"endpoint\".\"disabled_reason\" as \"disabledReason\", \"endpoint\".\"disabled_at\" as \"disabledAtMs\", \"endpoint\".\"destination_version\" as \"destinationVersion\", \"endpoint\".\"run\" as \"run\", \"state\".\"position\" as \"position\", \"state\".\"in_flight\" as \"inFlight\", \"state\".\"subscriptions\" as \"subscriptionsJson\", \"state\".\"failing_since\" as \"failingSinceMs\", \"state\".\"last_success_at\" as \"lastSuccessAtMs\", \"state\".\"last_failure_at\" as \"lastFailureAtMs\", \"state\".\"consecutive_failures\" as \"consecutiveFailures\", \"endpoint\".\"archived_at\" is not null as \"isArchived\" from \"webhook_endpoints\" as \"endpoint\" inner join \"webhook_states\" as \"state\" on \"state\".\"endpoint_number\" = \"endpoint\".\"number\" where \"endpoint\".\"number\" = ?",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    number: row[0],
    id: row[1],
    organizationNumber: row[2],
    version: row[3],
    maxInFlight: row[4],
    status: row[5],
    disabledReason: row[6],
    disabledAtMs: row[7],
    destinationVersion: row[8],
    run: row[9],
    position: row[10],
    inFlight: row[11],
    subscriptionsJson: row[12],
    failingSinceMs: row[13],
    lastSuccessAtMs: row[14],
    lastFailureAtMs: row[15],
    consecutiveFailures: row[16],
    isArchived: row[17] === 1,
  }),
};

export const listEntries: Compiled<typeof source.listEntries> = {
  name: 'endpoints-work.listEntries',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" > ? order by \"seq\" limit ?",
  cells: (params) => [params.organizationNumber, params.afterSeq, params.limit],
  row: (row: any) => ({
    seq: row[0],
    envelope: unpackEnvelope(row[1]),
  }),
};

export const listEnvelopes: Compiled<typeof source.listEnvelopes> = {
  name: 'endpoints-work.listEnvelopes',
  text: "select \"seq\" as \"seq\", \"envelope\" as \"envelope\" from \"envelopes\" as \"log\" where \"organization_number\" = ? and \"seq\" in (select value from json_each(?)) order by \"seq\"",
  cells: (params) => [params.organizationNumber, JSON.stringify(params.seqs)],
  row: (row: any) => ({
    seq: row[0],
    envelope: unpackEnvelope(row[1]),
  }),
};

export const listHeads: Compiled<typeof source.listHeads> = {
  name: 'endpoints-work.listHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" in (select value from json_each(?))",
  cells: (params) => [JSON.stringify(params.numbers)],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
  }),
};

export const listHours: Compiled<typeof source.listHours> = {
  name: 'endpoints-work.listHours',
  text: "select \"organization_number\" as \"organizationNumber\", \"attempts\" as \"attempts\" from \"webhook_hours\" where \"hour\" = ? and \"organization_number\" in (select value from json_each(?))",
  cells: (params) => [params.hour, JSON.stringify(params.numbers)],
  row: (row: any) => ({
    organizationNumber: row[0],
    attempts: row[1],
  }),
};

export const listReplayRows: Compiled<typeof source.listReplayRows> = {
  name: 'endpoints-work.listReplayRows',
  text: "select \"webhook_replays\".\"number\" as \"number\", \"webhook_replays\".\"endpoint_number\" as \"endpointNumber\", \"webhook_replays\".\"position\" as \"position\", \"webhook_replays\".\"to_seq\" as \"toSeq\", \"webhook_replays\".\"enqueued\" as \"enqueued\", \"webhook_replays\".\"delivered\" as \"delivered\", \"webhook_replays\".\"dead\" as \"dead\", \"webhook_replays\".\"status\" as \"status\", \"webhook_replays\".\"completed_at\" as \"completedAtMs\" from \"webhook_replays\" where \"number\" = ?",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
    position: row[2],
    toSeq: row[3],
    enqueued: row[4],
    delivered: row[5],
    dead: row[6],
    status: replayStatuses.value(row[7]),
    completedAtMs: row[8],
  }),
};

export const lockAvailableStates: Compiled<typeof source.lockAvailableStates> = {
  name: 'endpoints-work.lockAvailableStates',
  text: "select \"endpoint_number\" as \"number\" from \"webhook_states\" where \"endpoint_number\" = ? order by \"endpoint_number\"",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const lockLostTests: Compiled<typeof source.lockLostTests> = {
  name: 'endpoints-work.lockLostTests',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"replay_number\" as \"replayNumber\", \"webhook_deliveries\".\"counted\" as \"counted\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"attempt_id\" as \"attemptId\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"event_count\" as \"eventCount\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = true and \"due_at\" < ? limit ?",
  cells: (params) => [params.nowMs, params.limit],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
    dispatchId: row[2],
    status: deliveryStatuses.value(row[3]),
    replayNumber: row[4],
    counted: row[5] === null ? null : replayCounts.value(row[5]),
    run: row[6],
    attempt: row[7],
    failures: row[8],
    lost: row[9],
    fence: row[10],
    dueAtMs: row[11],
    backoffStartedAtMs: row[12],
    attemptId: row[13],
    firstAttemptAtMs: row[14],
    lastAttemptAtMs: row[15],
    endedAtMs: row[16],
    deadReason: row[17] === null ? null : deadReasons.value(row[17]),
    terminalHint: row[18] === 1,
    responseStatus: row[19],
    error: row[20],
    test: row[21] === 1,
    eventCount: row[22],
  }),
};

export const lockStates: Compiled<typeof source.lockStates> = {
  name: 'endpoints-work.lockStates',
  text: "select \"endpoint_number\" as \"number\" from \"webhook_states\" where \"endpoint_number\" = ? order by \"endpoint_number\"",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    number: row[0],
  }),
};

export const lockTest: Compiled<typeof source.lockTest> = {
  name: 'endpoints-work.lockTest',
  text: "select \"webhook_deliveries\".\"number\" as \"number\", \"webhook_deliveries\".\"endpoint_number\" as \"endpointNumber\", \"webhook_deliveries\".\"dispatch_id\" as \"dispatchId\", \"webhook_deliveries\".\"status\" as \"status\", \"webhook_deliveries\".\"replay_number\" as \"replayNumber\", \"webhook_deliveries\".\"counted\" as \"counted\", \"webhook_deliveries\".\"run\" as \"run\", \"webhook_deliveries\".\"attempt\" as \"attempt\", \"webhook_deliveries\".\"failures\" as \"failures\", \"webhook_deliveries\".\"lost\" as \"lost\", \"webhook_deliveries\".\"fence\" as \"fence\", \"webhook_deliveries\".\"due_at\" as \"dueAtMs\", \"webhook_deliveries\".\"ladder_started_at\" as \"backoffStartedAtMs\", \"webhook_deliveries\".\"attempt_id\" as \"attemptId\", \"webhook_deliveries\".\"first_attempt_at\" as \"firstAttemptAtMs\", \"webhook_deliveries\".\"last_attempt_at\" as \"lastAttemptAtMs\", \"webhook_deliveries\".\"ended_at\" as \"endedAtMs\", \"webhook_deliveries\".\"dead_reason\" as \"deadReason\", \"webhook_deliveries\".\"terminal_hint\" as \"terminalHint\", \"webhook_deliveries\".\"response_status\" as \"responseStatus\", \"webhook_deliveries\".\"error\" as \"error\", \"webhook_deliveries\".\"test\" as \"test\", \"webhook_deliveries\".\"event_count\" as \"eventCount\" from \"webhook_deliveries\" where \"ended_at\" is null and \"test\" = true and \"endpoint_number\" = ? and \"dispatch_id\" = ?",
  cells: (params) => [params.endpointNumber, params.dispatchId],
  row: (row: any) => ({
    number: row[0],
    endpointNumber: row[1],
    dispatchId: row[2],
    status: deliveryStatuses.value(row[3]),
    replayNumber: row[4],
    counted: row[5] === null ? null : replayCounts.value(row[5]),
    run: row[6],
    attempt: row[7],
    failures: row[8],
    lost: row[9],
    fence: row[10],
    dueAtMs: row[11],
    backoffStartedAtMs: row[12],
    attemptId: row[13],
    firstAttemptAtMs: row[14],
    lastAttemptAtMs: row[15],
    endedAtMs: row[16],
    deadReason: row[17] === null ? null : deadReasons.value(row[17]),
    terminalHint: row[18] === 1,
    responseStatus: row[19],
    error: row[20],
    test: row[21] === 1,
    eventCount: row[22],
  }),
};
