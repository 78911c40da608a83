/** Who acted, for the audit log. */

import type { RandomBytes } from './clock.ts';
import { newId } from './ids.ts';
import type { AuditRecord } from './management.ts';
import { maskedHead, maskTokens } from './token-mask.ts';

/** Whoever asks for a change, and how. */
export type Actor = Pick<
  AuditRecord,
  'organizationId' | 'actorKind' | 'actorUserId' | 'actorKeyId' | 'ip' | 'userAgent' | 'requestId' | 'traceId'
>;

/** What was done, or refused. */
export type Deed = Pick<AuditRecord, 'action' | 'targetType' | 'targetId'> &
  Partial<Pick<AuditRecord, 'outcome' | 'status' | 'code' | 'fields'>>;

const USER_AGENT_CHARACTERS_MAX = 256;

/** An entry of the audit log; a deed without an outcome succeeded. What callers may have typed is kept without tokens. */
export function auditRecord(
  actor: Actor,
  deed: Deed,
  { nowMs, random }: { nowMs: number; random: RandomBytes },
): AuditRecord {
  return {
    outcome: 'success',
    status: 200,
    code: null,
    fields: [],
    ...actor,
    ...deed,
    targetId: deed.targetId === null ? null : maskTokens(deed.targetId),
    userAgent: actor.userAgent === null ? null : maskedHead(actor.userAgent, USER_AGENT_CHARACTERS_MAX),
    requestId: actor.requestId === null ? null : maskTokens(actor.requestId),
    id: newId('audit', random),
    createdAtMs: nowMs,
    count: 1,
  };
}
