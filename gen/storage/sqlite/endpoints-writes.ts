// Compiled from src/storage/endpoints/questions-writes.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/questions.ts';
import { attemptOutcomes } from '../../../src/storage/rows/webhook-codes.ts';
import { deadReasons } from '../../../src/storage/rows/webhook-codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/webhook-codes.ts';
import { replayCounts } from '../../../src/storage/rows/webhook-codes.ts';
import { replayStatuses } from '../../../src/storage/rows/webhook-codes.ts';
import type * as source from '../../../src/storage/endpoints/questions-writes.ts';

export const addFigures: Compiled<typeof source.addFigures> = {
  name: 'endpoints-writes.addFigures',
  text: "insert into \"webhook_figures\" (\"endpoint_number\", \"bucket\", \"finished\", \"succeeded\") values (?, ?, ?, ?) on conflict (\"endpoint_number\", \"bucket\") do update set \"finished\" = \"webhook_figures\".\"finished\" + \"excluded\".\"finished\", \"succeeded\" = \"webhook_figures\".\"succeeded\" + \"excluded\".\"succeeded\"",
  cells: (rows) => [...rows.map((given) => [given.endpointNumber, given.bucket, given.finished, given.succeeded])],
};

export const addHours: Compiled<typeof source.addHours> = {
  name: 'endpoints-writes.addHours',
  text: "insert into \"webhook_hours\" (\"organization_number\", \"hour\", \"attempts\") values (?, ?, ?) on conflict (\"organization_number\", \"hour\") do update set \"attempts\" = \"webhook_hours\".\"attempts\" + \"excluded\".\"attempts\"",
  cells: (rows) => [...rows.map((given) => [given.organizationNumber, given.hour, given.attempts])],
};

export const countChange: Compiled<typeof source.countChange> = {
  name: 'endpoints-writes.countChange',
  text: "update \"webhook_changes\" set \"number\" = \"number\" + 1 where \"id\" = 1",
  cells: () => [],
};

export const disableEndpoints: Compiled<typeof source.disableEndpoints> = {
  name: 'endpoints-writes.disableEndpoints',
  text: "update \"webhook_endpoints\" set \"status\" = ?, \"disabled_reason\" = ?, \"disabled_at\" = ?, \"version\" = ?, \"change_number\" = ?, \"updated_at\" = ? where \"number\" = ?",
  cells: (rows) => [...rows.map((given) => [given.status, given.disabledReason ?? null, given.disabledAtMs ?? null, given.version, given.changeNumber, given.disabledAtMs, given.number])],
};

export const endAttempts: Compiled<typeof source.endAttempts> = {
  name: 'endpoints-writes.endAttempts',
  text: "update \"webhook_attempts\" set \"outcome\" = ?, \"response_status\" = ?, \"latency_ms\" = ?, \"terminal_hint\" = ?, \"error\" = ?, \"response_body\" = ? where (\"endpoint_number\" = ? and \"fired_at\" = ? and \"id\" = ?)",
  cells: (rows) => [...rows.map((given) => [attemptOutcomes.code(given.outcome), given.responseStatus ?? null, given.latencyMs ?? null, Number(given.terminalHint), given.error ?? null, given.responseBody ?? null, given.endpointNumber, given.firedAtMs, given.id])],
};

export const holdHeads: Compiled<typeof source.holdHeads> = {
  name: 'endpoints-writes.holdHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" = ? order by \"organization_number\"",
  cells: (given) => [...given.numbers],
  row: (row: any) => ({
    organizationNumber: row[0],
    seq: row[1],
  }),
};

export const insertAttempts: Compiled<typeof source.insertAttempts> = {
  name: 'endpoints-writes.insertAttempts',
  text: "insert into \"webhook_attempts\" (\"endpoint_number\", \"fired_at\", \"id\", \"delivery_number\", \"attempt\", \"outcome\", \"response_status\", \"latency_ms\", \"error\", \"response_body\", \"test\", \"terminal_hint\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (rows) => [...rows.map((given) => [given.endpointNumber, given.firedAtMs, given.id, given.deliveryNumber, given.attempt, attemptOutcomes.code(given.outcome), given.responseStatus ?? null, given.latencyMs ?? null, given.error ?? null, given.responseBody ?? null, Number(given.test), Number(given.terminalHint)])],
};

export const insertDeliveries: Compiled<typeof source.insertDeliveries> = {
  name: 'endpoints-writes.insertDeliveries',
  text: "insert into \"webhook_deliveries\" (\"endpoint_number\", \"dispatch_id\", \"status\", \"replay_number\", \"counted\", \"run\", \"attempt\", \"failures\", \"lost\", \"fence\", \"due_at\", \"ladder_started_at\", \"attempt_id\", \"queued_at\", \"created_at\", \"first_attempt_at\", \"last_attempt_at\", \"ended_at\", \"dead_reason\", \"terminal_hint\", \"response_status\", \"error\", \"test\", \"event_count\", \"events_from\", \"events_to\", \"seqs\", \"event_ids\", \"number\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (rows) => [...rows.map((given) => [given.endpointNumber, given.dispatchId, deliveryStatuses.code(given.status), given.replayNumber ?? null, given.counted == null ? null : replayCounts.code(given.counted), given.run, given.attempt, given.failures, given.lost, given.fence, given.dueAtMs ?? null, given.ladderStartedAtMs ?? null, given.attemptId ?? null, given.queuedAtMs, given.createdAtMs, given.firstAttemptAtMs ?? null, given.lastAttemptAtMs ?? null, given.endedAtMs ?? null, given.deadReason == null ? null : deadReasons.code(given.deadReason), Number(given.terminalHint), given.responseStatus ?? null, given.error ?? null, Number(given.test), given.eventCount, given.eventsFromMs, given.eventsToMs, given.seqsJson, given.eventIdsJson, given.number])],
};

export const insertHeads: Compiled<typeof source.insertHeads> = {
  name: 'endpoints-writes.insertHeads',
  text: "insert into \"log_heads\" (\"organization_number\", \"seq\", \"created_at\", \"last_key_index\") values (?, 0, 0, 0) on conflict do nothing",
  cells: (rows) => [...rows.map((given) => [given.organizationNumber])],
};

export const updateDeliveries: Compiled<typeof source.updateDeliveries> = {
  name: 'endpoints-writes.updateDeliveries',
  text: "update \"webhook_deliveries\" set \"status\" = ?, \"counted\" = ?, \"run\" = ?, \"attempt\" = ?, \"failures\" = ?, \"lost\" = ?, \"fence\" = ?, \"due_at\" = ?, \"ladder_started_at\" = ?, \"attempt_id\" = ?, \"first_attempt_at\" = ?, \"last_attempt_at\" = ?, \"ended_at\" = ?, \"dead_reason\" = ?, \"terminal_hint\" = ?, \"response_status\" = ?, \"error\" = ? where \"number\" = ?",
  cells: (rows) => [...rows.map((given) => [deliveryStatuses.code(given.status), given.counted == null ? null : replayCounts.code(given.counted), given.run, given.attempt, given.failures, given.lost, given.fence, given.dueAtMs ?? null, given.ladderStartedAtMs ?? null, given.attemptId ?? null, given.firstAttemptAtMs ?? null, given.lastAttemptAtMs ?? null, given.endedAtMs ?? null, given.deadReason == null ? null : deadReasons.code(given.deadReason), Number(given.terminalHint), given.responseStatus ?? null, given.error ?? null, given.number])],
};

export const updateReplays: Compiled<typeof source.updateReplays> = {
  name: 'endpoints-writes.updateReplays',
  text: "update \"webhook_replays\" set \"status\" = ?, \"position\" = ?, \"enqueued\" = ?, \"delivered\" = ?, \"dead\" = ?, \"completed_at\" = ? where \"number\" = ?",
  cells: (rows) => [...rows.map((given) => [replayStatuses.code(given.status), given.position, given.enqueued, given.delivered, given.dead, given.completedAtMs ?? null, given.number])],
};

export const updateStates: Compiled<typeof source.updateStates> = {
  name: 'endpoints-writes.updateStates',
  text: "update \"webhook_states\" set \"position\" = ?, \"in_flight\" = ?, \"subscriptions\" = ?, \"failing_since\" = ?, \"last_success_at\" = ?, \"last_failure_at\" = ?, \"consecutive_failures\" = ? where \"endpoint_number\" = ?",
  cells: (rows) => [...rows.map((given) => [given.position, given.inFlight, given.subscriptionsJson, given.failingSinceMs ?? null, given.lastSuccessAtMs ?? null, given.lastFailureAtMs ?? null, given.consecutiveFailures, given.number])],
};
