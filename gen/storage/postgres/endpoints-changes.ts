// Compiled from src/storage/endpoints/queries-changes.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import { attemptOutcomes } from '../../../src/storage/rows/codes.ts';
import { boolArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { deadReasons } from '../../../src/storage/rows/codes.ts';
import { deliveryStatuses } from '../../../src/storage/rows/codes.ts';
import { dropNul } from '../../../src/storage/engine/postgres/run-query.ts';
import { int4Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { int8Array } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import { replayCounts } from '../../../src/storage/rows/codes.ts';
import { replayStatuses } from '../../../src/storage/rows/codes.ts';
import { textArray } from '../../../src/storage/engine/postgres/binary-arrays.ts';
import type * as source from '../../../src/storage/endpoints/queries-changes.ts';

export const addFigures: Compiled<typeof source.addFigures> = {
  name: 'endpoints-changes.addFigures',
  text: "insert into \"webhook_figures\" (\"endpoint_number\", \"bucket\", \"finished\", \"succeeded\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\" from unnest($1::int[], $2::bigint[], $3::int[], $4::int[]) as given (v0, v1, v2, v3) on conflict (\"endpoint_number\", \"bucket\") do update set \"finished\" = \"webhook_figures\".\"finished\" + \"excluded\".\"finished\", \"succeeded\" = \"webhook_figures\".\"succeeded\" + \"excluded\".\"succeeded\"",
  cells: (rows) => [int4Array(rows, (params) => params.endpointNumber), int8Array(rows, (params) => params.bucket), int4Array(rows, (params) => params.finished), int4Array(rows, (params) => params.succeeded)],
};

export const addHours: Compiled<typeof source.addHours> = {
  name: 'endpoints-changes.addHours',
  text: "insert into \"webhook_hours\" (\"organization_number\", \"hour\", \"attempts\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\" from unnest($1::int[], $2::int[], $3::int[]) as given (v0, v1, v2) on conflict (\"organization_number\", \"hour\") do update set \"attempts\" = \"webhook_hours\".\"attempts\" + \"excluded\".\"attempts\"",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int4Array(rows, (params) => params.hour), int4Array(rows, (params) => params.attempts)],
};

export const countChange: Compiled<typeof source.countChange> = {
  name: 'endpoints-changes.countChange',
  text: "update \"webhook_changes\" set \"number\" = \"number\" + 1 where \"id\" = 1",
  cells: () => [],
};

export const disableEndpoints: Compiled<typeof source.disableEndpoints> = {
  name: 'endpoints-changes.disableEndpoints',
  text: "update \"webhook_endpoints\" set \"status\" = \"given\".\"v1\", \"disabled_reason\" = \"given\".\"v2\", \"disabled_at\" = \"given\".\"v3\", \"version\" = \"given\".\"v4\", \"change_number\" = \"given\".\"v5\", \"updated_at\" = \"given\".\"v6\" from unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6) where \"number\" = \"given\".\"v0\"",
  cells: (rows) => [int4Array(rows, (params) => params.number), textArray(rows, (params) => params.status), textArray(rows, (params) => params.disabledReason ?? null), int8Array(rows, (params) => params.disabledAtMs ?? null), int4Array(rows, (params) => params.version), int8Array(rows, (params) => params.changeNumber), int8Array(rows, (params) => params.disabledAtMs)],
};

export const endAttempts: Compiled<typeof source.endAttempts> = {
  name: 'endpoints-changes.endAttempts',
  text: "update \"webhook_attempts\" set \"outcome\" = \"given\".\"v3\", \"response_status\" = \"given\".\"v4\", \"latency_ms\" = \"given\".\"v5\", \"terminal_hint\" = \"given\".\"v6\", \"error\" = \"given\".\"v7\", \"response_body\" = \"given\".\"v8\" from unnest($1::int[], $2::bigint[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::text[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8) where (\"endpoint_number\" = \"given\".\"v0\" and \"fired_at\" = \"given\".\"v1\" and \"id\" = \"given\".\"v2\")",
  cells: (rows) => [int4Array(rows, (params) => params.endpointNumber), int8Array(rows, (params) => params.firedAtMs), textArray(rows, (params) => params.id), int4Array(rows, (params) => attemptOutcomes.code(params.outcome)), int4Array(rows, (params) => params.responseStatus ?? null), int4Array(rows, (params) => params.latencyMs ?? null), boolArray(rows, (params) => params.terminalHint), textArray(rows, (params) => dropNul(params.error ?? null)), textArray(rows, (params) => dropNul(params.responseBody ?? null))],
};

export const insertAttempts: Compiled<typeof source.insertAttempts> = {
  name: 'endpoints-changes.insertAttempts',
  text: "insert into \"webhook_attempts\" (\"endpoint_number\", \"fired_at\", \"id\", \"delivery_number\", \"attempt\", \"outcome\", \"response_status\", \"latency_ms\", \"error\", \"response_body\", \"test\", \"terminal_hint\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\" from unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::int[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[], $11::boolean[], $12::boolean[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11)",
  cells: (rows) => [int4Array(rows, (params) => params.endpointNumber), int8Array(rows, (params) => params.firedAtMs), textArray(rows, (params) => params.id), int8Array(rows, (params) => params.deliveryNumber), int4Array(rows, (params) => params.attempt), int4Array(rows, (params) => attemptOutcomes.code(params.outcome)), int4Array(rows, (params) => params.responseStatus ?? null), int4Array(rows, (params) => params.latencyMs ?? null), textArray(rows, (params) => dropNul(params.error ?? null)), textArray(rows, (params) => dropNul(params.responseBody ?? null)), boolArray(rows, (params) => params.test), boolArray(rows, (params) => params.terminalHint)],
};

export const insertDeliveries: Compiled<typeof source.insertDeliveries> = {
  name: 'endpoints-changes.insertDeliveries',
  text: "insert into \"webhook_deliveries\" (\"endpoint_number\", \"dispatch_id\", \"status\", \"replay_number\", \"counted\", \"run\", \"attempt\", \"failures\", \"lost\", \"fence\", \"due_at\", \"ladder_started_at\", \"attempt_id\", \"queued_at\", \"created_at\", \"first_attempt_at\", \"last_attempt_at\", \"ended_at\", \"dead_reason\", \"terminal_hint\", \"response_status\", \"error\", \"test\", \"event_count\", \"events_from\", \"events_to\", \"seqs\", \"event_ids\", \"number\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\", \"given\".\"v4\", \"given\".\"v5\", \"given\".\"v6\", \"given\".\"v7\", \"given\".\"v8\", \"given\".\"v9\", \"given\".\"v10\", \"given\".\"v11\", \"given\".\"v12\", \"given\".\"v13\", \"given\".\"v14\", \"given\".\"v15\", \"given\".\"v16\", \"given\".\"v17\", \"given\".\"v18\", \"given\".\"v19\", \"given\".\"v20\", \"given\".\"v21\", \"given\".\"v22\", \"given\".\"v23\", \"given\".\"v24\", \"given\".\"v25\", \"given\".\"v26\", \"given\".\"v27\", \"given\".\"v28\" from unnest($1::int[], $2::text[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[], $10::int[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::int[], $20::boolean[], $21::int[], $22::text[], $23::boolean[], $24::int[], $25::bigint[], $26::bigint[], $27::text[], $28::text[], $29::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28)",
  cells: (rows) => [int4Array(rows, (params) => params.endpointNumber), textArray(rows, (params) => params.dispatchId), int4Array(rows, (params) => deliveryStatuses.code(params.status)), int4Array(rows, (params) => params.replayNumber ?? null), int4Array(rows, (params) => params.counted == null ? null : replayCounts.code(params.counted)), int4Array(rows, (params) => params.run), int4Array(rows, (params) => params.attempt), int4Array(rows, (params) => params.failures), int4Array(rows, (params) => params.lost), int4Array(rows, (params) => params.fence), int8Array(rows, (params) => params.dueAtMs ?? null), int8Array(rows, (params) => params.backoffStartedAtMs ?? null), textArray(rows, (params) => params.attemptId ?? null), int8Array(rows, (params) => params.queuedAtMs), int8Array(rows, (params) => params.createdAtMs), int8Array(rows, (params) => params.firstAttemptAtMs ?? null), int8Array(rows, (params) => params.lastAttemptAtMs ?? null), int8Array(rows, (params) => params.endedAtMs ?? null), int4Array(rows, (params) => params.deadReason == null ? null : deadReasons.code(params.deadReason)), boolArray(rows, (params) => params.terminalHint), int4Array(rows, (params) => params.responseStatus ?? null), textArray(rows, (params) => dropNul(params.error ?? null)), boolArray(rows, (params) => params.test), int4Array(rows, (params) => params.eventCount), int8Array(rows, (params) => params.eventsFromMs), int8Array(rows, (params) => params.eventsToMs), textArray(rows, (params) => JSON.stringify(params.seqs)), textArray(rows, (params) => JSON.stringify(params.eventIds)), int8Array(rows, (params) => params.number)],
};

export const insertHeads: Compiled<typeof source.insertHeads> = {
  name: 'endpoints-changes.insertHeads',
  text: "insert into \"log_heads\" (\"organization_number\", \"seq\", \"created_at\", \"last_key_index\") select \"given\".\"v0\", \"given\".\"v1\", \"given\".\"v2\", \"given\".\"v3\" from unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) as given (v0, v1, v2, v3) on conflict do nothing",
  cells: (rows) => [int4Array(rows, (params) => params.organizationNumber), int8Array(rows, (params) => params.seq), int8Array(rows, (params) => params.createdAtMs), int4Array(rows, (params) => params.lastKeyIndex)],
};

export const lockHeads: Compiled<typeof source.lockHeads> = {
  name: 'endpoints-changes.lockHeads',
  text: "select \"organization_number\" as \"organizationNumber\", \"seq\" as \"seq\" from \"log_heads\" where \"organization_number\" = any($1) order by \"organization_number\" for update",
  cells: (params) => [params.numbers],
  row: (row) => row,
};

export const updateDeliveries: Compiled<typeof source.updateDeliveries> = {
  name: 'endpoints-changes.updateDeliveries',
  text: "update \"webhook_deliveries\" set \"status\" = \"given\".\"v1\", \"counted\" = \"given\".\"v2\", \"run\" = \"given\".\"v3\", \"attempt\" = \"given\".\"v4\", \"failures\" = \"given\".\"v5\", \"lost\" = \"given\".\"v6\", \"fence\" = \"given\".\"v7\", \"due_at\" = \"given\".\"v8\", \"ladder_started_at\" = \"given\".\"v9\", \"attempt_id\" = \"given\".\"v10\", \"first_attempt_at\" = \"given\".\"v11\", \"last_attempt_at\" = \"given\".\"v12\", \"ended_at\" = \"given\".\"v13\", \"dead_reason\" = \"given\".\"v14\", \"terminal_hint\" = \"given\".\"v15\", \"response_status\" = \"given\".\"v16\", \"error\" = \"given\".\"v17\" from unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::int[], $16::boolean[], $17::int[], $18::text[]) as given (v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17) where \"number\" = \"given\".\"v0\"",
  cells: (rows) => [int8Array(rows, (params) => params.number), int4Array(rows, (params) => deliveryStatuses.code(params.status)), int4Array(rows, (params) => params.counted == null ? null : replayCounts.code(params.counted)), int4Array(rows, (params) => params.run), int4Array(rows, (params) => params.attempt), int4Array(rows, (params) => params.failures), int4Array(rows, (params) => params.lost), int4Array(rows, (params) => params.fence), int8Array(rows, (params) => params.dueAtMs ?? null), int8Array(rows, (params) => params.backoffStartedAtMs ?? null), textArray(rows, (params) => params.attemptId ?? null), int8Array(rows, (params) => params.firstAttemptAtMs ?? null), int8Array(rows, (params) => params.lastAttemptAtMs ?? null), int8Array(rows, (params) => params.endedAtMs ?? null), int4Array(rows, (params) => params.deadReason == null ? null : deadReasons.code(params.deadReason)), boolArray(rows, (params) => params.terminalHint), int4Array(rows, (params) => params.responseStatus ?? null), textArray(rows, (params) => dropNul(params.error ?? null))],
};

export const updateReplays: Compiled<typeof source.updateReplays> = {
  name: 'endpoints-changes.updateReplays',
  text: "update \"webhook_replays\" set \"status\" = \"given\".\"v1\", \"position\" = \"given\".\"v2\", \"enqueued\" = \"given\".\"v3\", \"delivered\" = \"given\".\"v4\", \"dead\" = \"given\".\"v5\", \"completed_at\" = \"given\".\"v6\" from unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) as given (v0, v1, v2, v3, v4, v5, v6) where \"number\" = \"given\".\"v0\"",
  cells: (rows) => [int4Array(rows, (params) => params.number), int4Array(rows, (params) => replayStatuses.code(params.status)), int8Array(rows, (params) => params.position), int8Array(rows, (params) => params.enqueued), int8Array(rows, (params) => params.delivered), int8Array(rows, (params) => params.dead), int8Array(rows, (params) => params.completedAtMs ?? null)],
};

export const updateStates: Compiled<typeof source.updateStates> = {
  name: 'endpoints-changes.updateStates',
  text: "update \"webhook_states\" set \"position\" = \"given\".\"v1\", \"in_flight\" = \"given\".\"v2\", \"subscriptions\" = \"given\".\"v3\", \"failing_since\" = \"given\".\"v4\", \"last_success_at\" = \"given\".\"v5\", \"last_failure_at\" = \"given\".\"v6\", \"consecutive_failures\" = \"given\".\"v7\" from unnest($1::int[], $2::bigint[], $3::int[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[]) as given (v0, v1, v2, v3, v4, v5, v6, v7) where \"endpoint_number\" = \"given\".\"v0\"",
  cells: (rows) => [int4Array(rows, (params) => params.number), int8Array(rows, (params) => params.position), int4Array(rows, (params) => params.inFlight), textArray(rows, (params) => params.subscriptionsJson), int8Array(rows, (params) => params.failingSinceMs ?? null), int8Array(rows, (params) => params.lastSuccessAtMs ?? null), int8Array(rows, (params) => params.lastFailureAtMs ?? null), int4Array(rows, (params) => params.consecutiveFailures)],
};
