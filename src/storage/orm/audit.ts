/** Who did what, and what was refused. */

import { defineEntity, p } from '@mikro-orm/core';

export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    organizationId: p.text().primary(),
    id: p.text().primary(),
    createdAt: p.bigint('number'),
    actorKind: p.text(),
    actorUserId: p.text().nullable(),
    actorKeyId: p.text().nullable(),
    action: p.text(),
    targetType: p.text(),
    targetId: p.text().nullable(),
    outcome: p.text(),
    status: p.integer(),
    code: p.text().nullable(),
    fields: p.text(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    requestId: p.text().nullable(),
    traceId: p.text().nullable(),
    count: p.integer(),
  },
});
