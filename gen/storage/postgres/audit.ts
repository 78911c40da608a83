// Compiled from src/storage/audit/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/audit/queries.ts';

export const addToCount: Compiled<typeof source.addToCount> = {
  name: 'audit.addToCount',
  text: "update \"audit_log\" set \"count\" = \"count\" + $1 where (\"organization_id\" = $2 and \"id\" = $3)",
  cells: (params) => [params.count, params.organizationId, params.id],
};

export const findSame: Compiled<typeof source.findSame> = {
  name: 'audit.findSame',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where (\"organization_id\" = $1 and \"actor_kind\" = $2 and \"action\" = $3 and \"target_type\" = $4 and \"outcome\" = $5) and \"created_at\" >= $6 and \"actor_key_id\" is not distinct from $7 and \"target_id\" is not distinct from $8 and \"code\" is not distinct from $9 order by \"created_at\" desc, \"id\" desc limit 1",
  cells: (params) => [params.organizationId, params.actorKind, params.action, params.targetType, params.outcome, params.sinceMs, params.actorKeyId, params.targetId, params.code],
  row: (row: any) => ({
    organizationId: row.organizationId,
    id: row.id,
    createdAtMs: row.createdAtMs,
    actorKind: row.actorKind,
    actorUserId: row.actorUserId,
    actorKeyId: row.actorKeyId,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    outcome: row.outcome,
    status: row.status,
    code: row.code,
    fields: JSON.parse(row.fields),
    ip: row.ip,
    userAgent: row.userAgent,
    requestId: row.requestId,
    traceId: row.traceId,
    count: row.count,
  }),
};

export const insertEntry: Compiled<typeof source.insertEntry> = {
  name: 'audit.insertEntry',
  text: "insert into \"audit_log\" (\"organization_id\", \"id\", \"created_at\", \"actor_kind\", \"actor_user_id\", \"actor_key_id\", \"action\", \"target_type\", \"target_id\", \"outcome\", \"status\", \"code\", \"fields\", \"ip\", \"user_agent\", \"request_id\", \"trace_id\", \"count\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
  cells: (params) => [params.organizationId, params.id, params.createdAtMs, params.actorKind, params.actorUserId ?? null, params.actorKeyId ?? null, params.action, params.targetType, params.targetId ?? null, params.outcome, params.status, params.code ?? null, JSON.stringify(params.fields), params.ip ?? null, params.userAgent ?? null, params.requestId ?? null, params.traceId ?? null, params.count],
};

export const listEntries: Compiled<typeof source.listEntries> = {
  name: 'audit.listEntries',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\" < $4 or \"id\" < $5) and ((cast($6 as text) is null or \"action\" = $7) and (cast($8 as text) is null or \"actor_user_id\" = $9) and (cast($10 as text) is null or \"actor_key_id\" = $11) and (cast($12 as text) is null or \"target_id\" = $13) and (cast($14 as text) is null or \"outcome\" = $15)) order by \"created_at\" desc, \"id\" desc limit $16",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.limit],
  row: (row: any) => ({
    organizationId: row.organizationId,
    id: row.id,
    createdAtMs: row.createdAtMs,
    actorKind: row.actorKind,
    actorUserId: row.actorUserId,
    actorKeyId: row.actorKeyId,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    outcome: row.outcome,
    status: row.status,
    code: row.code,
    fields: JSON.parse(row.fields),
    ip: row.ip,
    userAgent: row.userAgent,
    requestId: row.requestId,
    traceId: row.traceId,
    count: row.count,
  }),
};

export const listEntriesOfKey: Compiled<typeof source.listEntriesOfKey> = {
  name: 'audit.listEntriesOfKey',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\" < $4 or \"id\" < $5) and ((cast($6 as text) is null or \"action\" = $7) and (cast($8 as text) is null or \"actor_user_id\" = $9) and (cast($10 as text) is null or \"actor_key_id\" = $11) and (cast($12 as text) is null or \"target_id\" = $13) and (cast($14 as text) is null or \"outcome\" = $15)) and \"actor_key_id\" = $16 order by \"created_at\" desc, \"id\" desc limit $17",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.actorKeyId, params.limit],
  row: (row: any) => ({
    organizationId: row.organizationId,
    id: row.id,
    createdAtMs: row.createdAtMs,
    actorKind: row.actorKind,
    actorUserId: row.actorUserId,
    actorKeyId: row.actorKeyId,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    outcome: row.outcome,
    status: row.status,
    code: row.code,
    fields: JSON.parse(row.fields),
    ip: row.ip,
    userAgent: row.userAgent,
    requestId: row.requestId,
    traceId: row.traceId,
    count: row.count,
  }),
};

export const listEntriesOfTarget: Compiled<typeof source.listEntriesOfTarget> = {
  name: 'audit.listEntriesOfTarget',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\" < $4 or \"id\" < $5) and ((cast($6 as text) is null or \"action\" = $7) and (cast($8 as text) is null or \"actor_user_id\" = $9) and (cast($10 as text) is null or \"actor_key_id\" = $11) and (cast($12 as text) is null or \"target_id\" = $13) and (cast($14 as text) is null or \"outcome\" = $15)) and \"target_id\" = $16 order by \"created_at\" desc, \"id\" desc limit $17",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.targetId, params.limit],
  row: (row: any) => ({
    organizationId: row.organizationId,
    id: row.id,
    createdAtMs: row.createdAtMs,
    actorKind: row.actorKind,
    actorUserId: row.actorUserId,
    actorKeyId: row.actorKeyId,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    outcome: row.outcome,
    status: row.status,
    code: row.code,
    fields: JSON.parse(row.fields),
    ip: row.ip,
    userAgent: row.userAgent,
    requestId: row.requestId,
    traceId: row.traceId,
    count: row.count,
  }),
};

export const listEntriesOfUser: Compiled<typeof source.listEntriesOfUser> = {
  name: 'audit.listEntriesOfUser',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = $1 and \"created_at\" >= $2 and \"created_at\" <= $3 and (\"created_at\" < $4 or \"id\" < $5) and ((cast($6 as text) is null or \"action\" = $7) and (cast($8 as text) is null or \"actor_user_id\" = $9) and (cast($10 as text) is null or \"actor_key_id\" = $11) and (cast($12 as text) is null or \"target_id\" = $13) and (cast($14 as text) is null or \"outcome\" = $15)) and \"actor_user_id\" = $16 order by \"created_at\" desc, \"id\" desc limit $17",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.actorUserId, params.limit],
  row: (row: any) => ({
    organizationId: row.organizationId,
    id: row.id,
    createdAtMs: row.createdAtMs,
    actorKind: row.actorKind,
    actorUserId: row.actorUserId,
    actorKeyId: row.actorKeyId,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    outcome: row.outcome,
    status: row.status,
    code: row.code,
    fields: JSON.parse(row.fields),
    ip: row.ip,
    userAgent: row.userAgent,
    requestId: row.requestId,
    traceId: row.traceId,
    count: row.count,
  }),
};
