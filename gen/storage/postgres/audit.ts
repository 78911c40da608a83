// Compiled from src/storage/audit/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/audit/queries.ts';

export const insertEntry: Compiled<typeof source.insertEntry> = {
  name: 'audit.insertEntry',
  text: "insert into \"audit_log\" (\"organization_id\", \"id\", \"created_at\", \"actor_kind\", \"actor_user_id\", \"actor_key_id\", \"action\", \"target_type\", \"target_id\", \"outcome\", \"status\", \"code\", \"fields\", \"ip\", \"user_agent\", \"request_id\", \"trace_id\", \"count\") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
  cells: (params) => [params.organizationId, params.id, params.createdAtMs, params.actorKind, params.actorUserId ?? null, params.actorKeyId ?? null, params.action, params.targetType, params.targetId ?? null, params.outcome, params.status, params.code ?? null, JSON.stringify(params.fields), params.ip ?? null, params.userAgent ?? null, params.requestId ?? null, params.traceId ?? null, params.count],
};
