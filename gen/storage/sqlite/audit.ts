// Compiled from src/storage/audit/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/audit/queries.ts';

export const addToCount: Compiled<typeof source.addToCount> = {
  name: 'audit.addToCount',
  text: "update \"audit_log\" set \"count\" = \"count\" + ? where (\"organization_id\" = ? and \"id\" = ?)",
  cells: (params) => [params.count, params.organizationId, params.id],
};

export const findSame: Compiled<typeof source.findSame> = {
  name: 'audit.findSame',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where (\"organization_id\" = ? and \"actor_kind\" = ? and \"action\" = ? and \"target_type\" = ? and \"outcome\" = ?) and \"created_at\" >= ? and \"actor_key_id\" is not distinct from ? and \"target_id\" is not distinct from ? and \"code\" is not distinct from ? order by \"created_at\" desc, \"id\" desc limit 1",
  cells: (params) => [params.organizationId, params.actorKind, params.action, params.targetType, params.outcome, params.sinceMs, params.actorKeyId, params.targetId, params.code],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    createdAtMs: row[2],
    actorKind: row[3],
    actorUserId: row[4],
    actorKeyId: row[5],
    action: row[6],
    targetType: row[7],
    targetId: row[8],
    outcome: row[9],
    status: row[10],
    code: row[11],
    fields: JSON.parse(row[12]),
    ip: row[13],
    userAgent: row[14],
    requestId: row[15],
    traceId: row[16],
    count: row[17],
  }),
};

export const insertEntry: Compiled<typeof source.insertEntry> = {
  name: 'audit.insertEntry',
  text: "insert into \"audit_log\" (\"organization_id\", \"id\", \"created_at\", \"actor_kind\", \"actor_user_id\", \"actor_key_id\", \"action\", \"target_type\", \"target_id\", \"outcome\", \"status\", \"code\", \"fields\", \"ip\", \"user_agent\", \"request_id\", \"trace_id\", \"count\") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  cells: (params) => [params.organizationId, params.id, params.createdAtMs, params.actorKind, params.actorUserId ?? null, params.actorKeyId ?? null, params.action, params.targetType, params.targetId ?? null, params.outcome, params.status, params.code ?? null, JSON.stringify(params.fields), params.ip ?? null, params.userAgent ?? null, params.requestId ?? null, params.traceId ?? null, params.count],
};

export const listEntries: Compiled<typeof source.listEntries> = {
  name: 'audit.listEntries',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\" < ? or \"id\" < ?) and ((cast(? as text) is null or \"action\" = ?) and (cast(? as text) is null or \"actor_user_id\" = ?) and (cast(? as text) is null or \"actor_key_id\" = ?) and (cast(? as text) is null or \"target_id\" = ?) and (cast(? as text) is null or \"outcome\" = ?)) order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.limit],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    createdAtMs: row[2],
    actorKind: row[3],
    actorUserId: row[4],
    actorKeyId: row[5],
    action: row[6],
    targetType: row[7],
    targetId: row[8],
    outcome: row[9],
    status: row[10],
    code: row[11],
    fields: JSON.parse(row[12]),
    ip: row[13],
    userAgent: row[14],
    requestId: row[15],
    traceId: row[16],
    count: row[17],
  }),
};

export const listEntriesOfKey: Compiled<typeof source.listEntriesOfKey> = {
  name: 'audit.listEntriesOfKey',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\" < ? or \"id\" < ?) and ((cast(? as text) is null or \"action\" = ?) and (cast(? as text) is null or \"actor_user_id\" = ?) and (cast(? as text) is null or \"actor_key_id\" = ?) and (cast(? as text) is null or \"target_id\" = ?) and (cast(? as text) is null or \"outcome\" = ?)) and \"actor_key_id\" = ? order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.actorKeyId, params.limit],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    createdAtMs: row[2],
    actorKind: row[3],
    actorUserId: row[4],
    actorKeyId: row[5],
    action: row[6],
    targetType: row[7],
    targetId: row[8],
    outcome: row[9],
    status: row[10],
    code: row[11],
    fields: JSON.parse(row[12]),
    ip: row[13],
    userAgent: row[14],
    requestId: row[15],
    traceId: row[16],
    count: row[17],
  }),
};

export const listEntriesOfTarget: Compiled<typeof source.listEntriesOfTarget> = {
  name: 'audit.listEntriesOfTarget',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\" < ? or \"id\" < ?) and ((cast(? as text) is null or \"action\" = ?) and (cast(? as text) is null or \"actor_user_id\" = ?) and (cast(? as text) is null or \"actor_key_id\" = ?) and (cast(? as text) is null or \"target_id\" = ?) and (cast(? as text) is null or \"outcome\" = ?)) and \"target_id\" = ? order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.targetId, params.limit],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    createdAtMs: row[2],
    actorKind: row[3],
    actorUserId: row[4],
    actorKeyId: row[5],
    action: row[6],
    targetType: row[7],
    targetId: row[8],
    outcome: row[9],
    status: row[10],
    code: row[11],
    fields: JSON.parse(row[12]),
    ip: row[13],
    userAgent: row[14],
    requestId: row[15],
    traceId: row[16],
    count: row[17],
  }),
};

export const listEntriesOfUser: Compiled<typeof source.listEntriesOfUser> = {
  name: 'audit.listEntriesOfUser',
  text: "select \"audit_log\".\"organization_id\" as \"organizationId\", \"audit_log\".\"id\" as \"id\", \"audit_log\".\"created_at\" as \"createdAtMs\", \"audit_log\".\"actor_kind\" as \"actorKind\", \"audit_log\".\"actor_user_id\" as \"actorUserId\", \"audit_log\".\"actor_key_id\" as \"actorKeyId\", \"audit_log\".\"action\" as \"action\", \"audit_log\".\"target_type\" as \"targetType\", \"audit_log\".\"target_id\" as \"targetId\", \"audit_log\".\"outcome\" as \"outcome\", \"audit_log\".\"status\" as \"status\", \"audit_log\".\"code\" as \"code\", \"audit_log\".\"fields\" as \"fields\", \"audit_log\".\"ip\" as \"ip\", \"audit_log\".\"user_agent\" as \"userAgent\", \"audit_log\".\"request_id\" as \"requestId\", \"audit_log\".\"trace_id\" as \"traceId\", \"audit_log\".\"count\" as \"count\" from \"audit_log\" where \"organization_id\" = ? and \"created_at\" >= ? and \"created_at\" <= ? and (\"created_at\" < ? or \"id\" < ?) and ((cast(? as text) is null or \"action\" = ?) and (cast(? as text) is null or \"actor_user_id\" = ?) and (cast(? as text) is null or \"actor_key_id\" = ?) and (cast(? as text) is null or \"target_id\" = ?) and (cast(? as text) is null or \"outcome\" = ?)) and \"actor_user_id\" = ? order by \"created_at\" desc, \"id\" desc limit ?",
  cells: (params) => [params.organizationId, params.fromMs, params.untilMs, params.createdAtMs, params.id, params.action, params.action, params.actorUserId, params.actorUserId, params.actorKeyId, params.actorKeyId, params.targetId, params.targetId, params.outcome, params.outcome, params.actorUserId, params.limit],
  row: (row: any) => ({
    organizationId: row[0],
    id: row[1],
    createdAtMs: row[2],
    actorKind: row[3],
    actorUserId: row[4],
    actorKeyId: row[5],
    action: row[6],
    targetType: row[7],
    targetId: row[8],
    outcome: row[9],
    status: row[10],
    code: row[11],
    fields: JSON.parse(row[12]),
    ip: row[13],
    userAgent: row[14],
    requestId: row[15],
    traceId: row[16],
    count: row[17],
  }),
};
