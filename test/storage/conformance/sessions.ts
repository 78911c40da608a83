import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  isIdle,
  SESSION_AGE_MAX_MS,
  SESSION_IDLE_MS,
  type SessionRecord,
} from '../../../src/domain/sessions/session.ts';
import { AT_MS, change, found, foundAnother, sampleMember, sampleRoleBinding } from './management-samples.ts';
import { randomHex } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

export function sampleSession(organizationId: string, changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    organizationId,
    id: `session_${randomHex(8)}`,
    secretHash: randomBytes(32),
    keyHash: randomBytes(32),
    userId: null,
    apiKeyId: null,
    projectId: null,
    userAgent: 'Größe',
    ip: '::1',
    createdAtMs: AT_MS,
    lastSeenAtMs: AT_MS,
    expiresAtMs: AT_MS + SESSION_AGE_MAX_MS,
    ...changes,
  };
}

const ALL = { owner: 'all', nowMs: AT_MS, after: null, limit: 100 } as const;

export function sessionConformance(open: OpenManagement): void {
  describe('sessions', () => {
    it(
      'are read back whole, only by their organization, and are found by their secret until they are ended',
      withStore(open, async (store, subject) => {
        const { organization } = await found(store);
        const others = await foundAnother(subject);
        const session = sampleSession(organization.id, { userId: 'user_1', apiKeyId: 'key' });
        expect(await store.keys.findSession(session.secretHash, AT_MS)).toBeNull();
        await change(store, organization.id, { sessions: [session] });
        expect(await store.management.session(organization.id, session.id)).toEqual(session);
        expect(await store.management.session(others, session.id)).toBeNull();
        expect(await store.management.sessions(others, ALL)).toEqual([]);
        expect(await store.keys.findSession(session.secretHash, AT_MS)).toMatchObject(session);
        expect(await store.keys.findSession(randomBytes(32), AT_MS)).toBeNull();
        await change(store, organization.id, { endedSessions: [{ id: session.id }] });
        expect(await store.keys.findSession(session.secretHash, AT_MS)).toBeNull();
        expect(await store.management.session(organization.id, session.id)).toBeNull();
      }),
    );

    it(
      'are listed newest first, page by page, of one owner, without those that have ended',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const sessions = [
          sampleSession(organization.id, { id: 'session_c', createdAtMs: AT_MS + 2, userId: 'user_1' }),
          sampleSession(organization.id, { id: 'session_b', createdAtMs: AT_MS + 1, apiKeyId: 'key' }),
          sampleSession(organization.id, { id: 'session_a', createdAtMs: AT_MS + 1, projectId: 'project' }),
          sampleSession(organization.id, { id: 'session_z', userId: 'user_1', apiKeyId: 'key' }),
        ];
        await change(store, organization.id, { sessions });
        const list = async (question: object) =>
          (await store.management.sessions(organization.id, { ...ALL, ...question })).map(({ id }) => id);
        expect(await list({})).toEqual(['session_c', 'session_b', 'session_a', 'session_z']);
        expect(await list({ limit: 2 })).toEqual(['session_c', 'session_b']);
        const after = { createdAtMs: AT_MS + 1, id: 'session_b' };
        expect(await list({ after })).toEqual(['session_a', 'session_z']);
        expect(await list({ owner: { userId: 'user_1' } })).toEqual(['session_c', 'session_z']);
        expect(await list({ owner: { apiKeyId: 'key' } })).toEqual(['session_b', 'session_z']);
        expect(await list({ owner: { projectId: 'project' } })).toEqual(['session_a']);
        expect(await list({ owner: { projectId: 'project' }, after })).toEqual(['session_a']);
        expect(await list({ nowMs: AT_MS + SESSION_IDLE_MS })).toEqual([]);
        expect(await list({ nowMs: AT_MS + SESSION_AGE_MAX_MS })).toEqual([]);
      }),
    );

    it(
      'are ended by their person, their key or their project, and ended ones are removed by the instant of their end',
      withStore(open, async (store, { read }) => {
        const { organization } = await found(store);
        const kept = sampleSession(organization.id, { userId: 'user_2', apiKeyId: 'other' });
        const left = async () => {
          const rows = await read('SELECT id FROM sessions');
          return rows.map(({ id }) => id).toSorted();
        };
        for (const owner of [{ userId: 'user_1' }, { apiKeyId: 'key' }, { projectId: 'project' }]) {
          const ended = [sampleSession(organization.id, owner), sampleSession(organization.id, owner)];
          await change(store, organization.id, { sessions: [kept, ...ended] });
          await change(store, organization.id, { endedSessions: [owner] });
          expect(await left()).toEqual([kept.id]);
          await change(store, organization.id, { endedSessions: [{ id: kept.id }] });
        }
        const idle = sampleSession(organization.id, { lastSeenAtMs: AT_MS - SESSION_IDLE_MS });
        const expired = sampleSession(organization.id, { expiresAtMs: AT_MS });
        const alive = sampleSession(organization.id, { lastSeenAtMs: AT_MS - SESSION_IDLE_MS + 1 });
        const later = sampleSession(organization.id);
        await change(store, organization.id, { sessions: [idle, expired, alive, later] });
        await change(store, organization.id, { sessions: [kept], endedSessions: [{ untilMs: AT_MS }] });
        expect(await left()).toEqual([alive.id, kept.id, later.id].toSorted());
      }),
    );

    it(
      'MUST end at the instant that is set for their owner, and no later than before',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const longer = sampleSession(organization.id, { id: 'session_l', apiKeyId: 'key' });
        const shorter = sampleSession(organization.id, { id: 'session_s', apiKeyId: 'key', expiresAtMs: AT_MS + 5 });
        const other = sampleSession(organization.id, { id: 'session_o', apiKeyId: 'other' });
        await change(store, organization.id, { sessions: [longer, shorter, other] });
        await change(store, organization.id, { endingSessions: [{ owner: { apiKeyId: 'key' }, atMs: AT_MS + 10 }] });
        const ends = async ({ id }: { readonly id: string }) =>
          (await store.management.session(organization.id, id))?.expiresAtMs;
        expect(await Promise.all([longer, shorter, other].map(ends))).toEqual([
          AT_MS + 10,
          AT_MS + 5,
          other.expiresAtMs,
        ]);
        expect(await store.keys.findSession(longer.secretHash, AT_MS + 9)).toMatchObject({ expiresAtMs: AT_MS + 10 });
      }),
    );

    it(
      'MUST NOT be answered as idle once a use of them is recorded, which is never set back',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const session = sampleSession(organization.id);
        await change(store, organization.id, { sessions: [session] });
        const seen = async (nowMs: number) => {
          const known = await store.keys.findSession(session.secretHash, nowMs);
          return known === null ? null : { isIdle: isIdle(known, nowMs), lastSeenAtMs: known.lastSeenAtMs };
        };
        expect(await seen(AT_MS)).toEqual({ isIdle: false, lastSeenAtMs: AT_MS });
        const idleAtMs = AT_MS + SESSION_IDLE_MS;
        expect(await seen(idleAtMs)).toEqual({ isIdle: true, lastSeenAtMs: AT_MS });
        await store.management.recordUse([{ kind: 'session', id: session.id, atMs: AT_MS + 5 }]);
        expect(await seen(idleAtMs)).toEqual({ isIdle: false, lastSeenAtMs: AT_MS + 5 });
        await store.management.recordUse([{ kind: 'session', id: session.id, atMs: AT_MS + 1 }]);
        expect((await store.management.session(organization.id, session.id))?.lastSeenAtMs).toBe(AT_MS + 5);
        expect(await seen(idleAtMs + 5)).toEqual({ isIdle: true, lastSeenAtMs: AT_MS + 5 });
      }),
    );

    it(
      'are found with what their people may do now, of which nothing is left when a member is removed',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const member = sampleMember(organization.id);
        const binding = sampleRoleBinding(member);
        const session = sampleSession(organization.id, { userId: member.userId });
        await change(store, organization.id, { members: [member], roleBindings: [binding], sessions: [session] });
        const read = () => store.keys.findSession(session.secretHash, AT_MS);
        const { role, scopeType, scopeId, permissions } = binding;
        expect(await read()).toEqual({
          ...session,
          organization: { id: organization.id, number: expect.any(Number), priceVersion: 0, promptVersion: 0 },
          ownerActive: true,
          ownerBindings: [{ role, scopeType, scopeId, permissions }],
        });
        await change(store, organization.id, { members: [{ ...member, disabledAtMs: AT_MS }] });
        expect(await read()).toMatchObject({ ownerActive: false });
        await change(store, organization.id, { removedMembers: [{ userId: member.userId }] });
        expect(await read()).toMatchObject({ ownerActive: false, ownerBindings: [] });
      }),
    );
  });

  describe('identities', () => {
    it(
      'are found by issuer and subject, and by member, until the member is removed',
      withStore(open, async (store) => {
        const { organization } = await found(store);
        const member = sampleMember(organization.id);
        const { userId } = member;
        const [issuer, subject] = ['https://issuer.example', 'Größe'];
        const identity = { organizationId: organization.id, userId, issuer, subject, createdAtMs: AT_MS };
        await change(store, organization.id, { members: [member], identities: [identity] });
        const { management } = store;
        expect(await management.identity(issuer, subject)).toEqual(identity);
        expect(await management.identityOf(organization.id, userId, issuer)).toEqual(identity);
        expect(await management.identity(issuer, 'grÖsse')).toBeNull();
        expect(await management.identity('https://other.example', subject)).toBeNull();
        expect(await management.identityOf(organization.id, userId, 'https://other.example')).toBeNull();
        await change(store, organization.id, { members: [{ ...member, name: 'Other' }] });
        expect(await management.identity(issuer, subject)).toEqual(identity);
        await change(store, organization.id, { removedMembers: [{ userId }] });
        expect(await management.identity(issuer, subject)).toBeNull();
      }),
    );

    it(
      'belong to the oldest organization that knows the e-mail address, else to the oldest of all',
      withStore(open, async (store, subject) => {
        expect(await store.management.findHome('ada@example.com')).toBeNull();
        const { organization } = await found(store);
        const others = await foundAnother(subject);
        await change(store, others, { members: [sampleMember(others, { email: 'ada@example.com' })] });
        expect(await store.management.findHome('ada@example.com')).toBe(others);
        expect(await store.management.findHome('eve@example.com')).toBe(organization.id);
      }),
    );
  });
}
