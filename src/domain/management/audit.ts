/** Builds entries of the audit log. */

import type { RandomBytes } from '../clock.ts';
import { newId } from '../ids.ts';
import { maskedHead, maskTokens } from '../token-mask.ts';
import type { AuditRecord } from './management.ts';

/** The caller of a change and its request. */
export type Actor = Pick<
  AuditRecord,
  'organizationId' | 'actorKind' | 'actorUserId' | 'actorKeyId' | 'ip' | 'userAgent' | 'requestId' | 'traceId'
>;

/** What the caller did, or was refused. The action names the type of its target before the point. */
export type AuditedAction = Pick<AuditRecord, 'action' | 'targetId'> &
  Partial<Pick<AuditRecord, 'outcome' | 'status' | 'code' | 'fields'>>;

const USER_AGENT_CHARACTERS_MAX = 256;

/** An entry of the audit log; an action without an outcome succeeded. What callers may have typed is kept without tokens. */
export function auditRecord(
  actor: Actor,
  audited: AuditedAction,
  { nowMs, random }: { nowMs: number; random: RandomBytes },
): AuditRecord {
  return {
    outcome: 'success',
    status: 200,
    code: null,
    fields: [],
    ...actor,
    ...audited,
    targetType: audited.action.split('.', 1)[0] ?? '',
    targetId: audited.targetId === null ? null : maskTokens(audited.targetId),
    userAgent: shownUserAgent(actor),
    requestId: actor.requestId === null ? null : maskTokens(actor.requestId),
    id: newId('audit', random),
    createdAtMs: nowMs,
    count: 1,
  };
}

/** The user agent as it is kept: cut, and without tokens. */
export function shownUserAgent({ userAgent }: Pick<Actor, 'userAgent'>): string | null {
  return userAgent === null ? null : maskedHead(userAgent, USER_AGENT_CHARACTERS_MAX);
}

/** The names of what a change has changed, of the properties that are named. */
export function changedFields<R>(names: { readonly [field: string]: keyof R }, before: R, after: R): readonly string[] {
  return Object.entries(names).flatMap(([field, property]) =>
    JSON.stringify(before[property]) === JSON.stringify(after[property]) ? [] : [field],
  );
}
