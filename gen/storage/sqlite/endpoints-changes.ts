// Compiled from src/storage/endpoints/queries-changes.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { attemptOutcomes } from '../../../src/storage/rows/codes.ts';
import { deadReasons } from '../../../src/storage/rows/codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/codes.ts';
import { replayCounts } from '../../../src/storage/rows/codes.ts';
import { replayStatuses } from '../../../src/storage/rows/codes.ts';
import type * as source from '../../../src/storage/endpoints/queries-changes.ts';

export const addFigures: Compiled<typeof source.addFigures> = {
  name: 'endpoints-changes.addFigures',
  text: "insert into \"webhook_figures\" (\"endpoint_number\", \"bucket\", \"finished\", \"succeeded\") values (?, ?, ?, ?) on conflict (\"endpoint_number\", \"bucket\") do update set \"finished\" = \"webhook_figures\".\"finished\" + \"excluded\".\"finished\", \"succeeded\" = \"webhook_figures\".\"succeeded\" + \"excluded\".\"succeeded\"",
  cells: (rows) => [...rows.map((params) => [params.endpointNumber, params.bucket, params.finished, params.succeeded])],
};

export const addHours: Compiled<typeof source.addHours> = {
  name: 'endpoints-changes.addHours',
  text: "insert into \"webhook_hours\" (\"organization_number\", \"hour\", \"attempts\") values (?, ?, ?) on conflict (\"organization_number\", \"hour\") do update set \"attempts\" = \"webhook_hours\".\"attempts\" + \"excluded\".\"attempts\"",
  cells: (rows) => [...rows.map((params) => [params.organizationNumber, params.hour, params.attempts])],
};

export const countChange: Compiled<typeof source.countChange> = {
  name: 'endpoints-changes.countChange',
  text: "update \"webhook_changes\" set \"number\" = \"number\" + 1 where \"id\" = 1",
  cells: () => [],
};

export const disableEndpoints: Compiled<typeof source.disableEndpoints> = {
  name: 'endpoints-changes.disableEndpoints',
  text: "update \"webhook_endpoints\" set \"status\" = ?, \"disabled_reason\" = ?, \"disabled_at\" = ?, \"version\" = ?, \"change_number\" = ?, \"updated_at\" = ? where \"number\" = ?",
  cells: (rows) => [...rows.map((params) => [params.status, params.disabledReason ?? null, params.disabledAtMs ?? null, params.version, params.changeNumber, params.disabledAtMs, params.number])],
};

export const endAttempts: Compiled<typeof source.endAttempts> = {
  name: 'endpoints-changes.endAttempts',
  text: "update \"webhook_attempts\" set \"outcome\" = ?, \"response_status\" = ?, \"latency_ms\" = ?, \"terminal_hint\" = ?, \"error\" = ?, \"response_body\" = ? where (\"endpoint_number\" = ? and \"fired_at\" = ? and \"id\" = ?)",
  cells: (rows) => [...rows.map((params) => [attemptOutcomes.code(params.outcome), params.responseStatus ?? null, params.latencyMs ?? null, Number(params.terminalHint), params.error ?? null, params.responseBody ?? null, params.endpointNumber, params.firedAtMs, params.id])],
};

export const insertAttempts: Compiled<typeof source.insertAttempts> = {
  name: 'endpoints-changes.insertAttempts',
  text: "insert into \"webhook_attempts\" (\"endpoint_number\", \"fired_at\", \"id\", \"delivery_number\", \"attempt\", \"outcome\", \"response_status\", \"latency_ms\", \"error\", \"response_body\", \"test\", \"terminal_hint\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.endpointNumber, params.firedAtMs, params.id, params.deliveryNumber, params.attempt, attemptOutcomes.code(params.outcome), params.responseStatus ?? null, params.latencyMs ?? null, params.error ?? null, params.responseBody ?? null, Number(params.test), Number(params.terminalHint)])],
};

export const insertDeliveries: Compiled<typeof source.insertDeliveries> = {
  name: 'endpoints-changes.insertDeliveries',
  text: "insert into \"webhook_deliveries\" (\"endpoint_number\", \"dispatch_id\", \"status\", \"replay_number\", \"counted\", \"run\", \"attempt\", \"failures\", \"lost\", \"fence\", \"due_at\", \"ladder_started_at\", \"attempt_id\", \"queued_at\", \"created_at\", \"first_attempt_at\", \"last_attempt_at\", \"ended_at\", \"dead_reason\", \"terminal_hint\", \"response_status\", \"error\", \"test\", \"event_count\", \"events_from\", \"events_to\", \"seqs\", \"event_ids\", \"number\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (rows) => [...rows.map((params) => [params.endpointNumber, params.dispatchId, deliveryStatuses.code(params.status), params.replayNumber ?? null, params.counted == null ? null : replayCounts.code(params.counted), params.run, params.attempt, params.failures, params.lost, params.fence, params.dueAtMs ?? null, params.backoffStartedAtMs ?? null, params.attemptId ?? null, params.queuedAtMs, params.createdAtMs, params.firstAttemptAtMs ?? null, params.lastAttemptAtMs ?? null, params.endedAtMs ?? null, params.deadReason == null ? null : deadReasons.code(params.deadReason), Number(params.terminalHint), params.responseStatus ?? null, params.error ?? null, Number(params.test), params.eventCount, params.eventsFromMs, params.eventsToMs, JSON.stringify(params.seqs), JSON.stringify(params.eventIds), params.number])],
};

export const insertHeads: Compiled<typeof source.insertHeads> = {
  name: 'endpoints-changes.insertHeads',
  text: "insert into \"log_heads\" (\"organization_number\", \"seq\", \"created_at\", \"last_key_index\") values (?, ?, ?, ?) on conflict do nothing",
  cells: (rows) => [...rows.map((params) => [params.organizationNumber, params.seq, params.createdAtMs, params.lastKeyIndex])],
};

export const lockHeads: Compiled<typeof source.lockHeads> = {
  name: 'endpoints-changes.lockHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" = ? order by \"organization_number\"",
  cells: (params) => [...params.numbers],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
  }),
};

export const updateDeliveries: Compiled<typeof source.updateDeliveries> = {
  name: 'endpoints-changes.updateDeliveries',
  text: "update \"webhook_deliveries\" set \"status\" = ?, \"counted\" = ?, \"run\" = ?, \"attempt\" = ?, \"failures\" = ?, \"lost\" = ?, \"fence\" = ?, \"due_at\" = ?, \"ladder_started_at\" = ?, \"attempt_id\" = ?, \"first_attempt_at\" = ?, \"last_attempt_at\" = ?, \"ended_at\" = ?, \"dead_reason\" = ?, \"terminal_hint\" = ?, \"response_status\" = ?, \"error\" = ? where \"number\" = ?",
  cells: (rows) => [...rows.map((params) => [deliveryStatuses.code(params.status), params.counted == null ? null : replayCounts.code(params.counted), params.run, params.attempt, params.failures, params.lost, params.fence, params.dueAtMs ?? null, params.backoffStartedAtMs ?? null, params.attemptId ?? null, params.firstAttemptAtMs ?? null, params.lastAttemptAtMs ?? null, params.endedAtMs ?? null, params.deadReason == null ? null : deadReasons.code(params.deadReason), Number(params.terminalHint), params.responseStatus ?? null, params.error ?? null, params.number])],
};

export const updateReplays: Compiled<typeof source.updateReplays> = {
  name: 'endpoints-changes.updateReplays',
  text: "update \"webhook_replays\" set \"status\" = ?, \"position\" = ?, \"enqueued\" = ?, \"delivered\" = ?, \"dead\" = ?, \"completed_at\" = ? where \"number\" = ?",
  cells: (rows) => [...rows.map((params) => [replayStatuses.code(params.status), params.position, params.enqueued, params.delivered, params.dead, params.completedAtMs ?? null, params.number])],
};

export const updateStates: Compiled<typeof source.updateStates> = {
  name: 'endpoints-changes.updateStates',
  text: "update \"webhook_states\" set \"position\" = ?, \"in_flight\" = ?, \"subscriptions\" = ?, \"failing_since\" = ?, \"last_success_at\" = ?, \"last_failure_at\" = ?, \"consecutive_failures\" = ? where \"endpoint_number\" = ?",
  cells: (rows) => [...rows.map((params) => [params.position, params.inFlight, params.subscriptionsJson, params.failingSinceMs ?? null, params.lastSuccessAtMs ?? null, params.lastFailureAtMs ?? null, params.consecutiveFailures, params.number])],
};
