/** Signs people in for whom an issuer of OpenID Connect vouches. */

import { unavailableFault } from '../fault.ts';
import { newId } from '../ids.ts';
import { type Actor, type AuditedAction, auditRecord } from '../management/audit.ts';
import { RECEIPT_KEPT_MS, storedName } from '../management/idempotency.ts';
import type { ManagementChange, MemberRecord } from '../management/management.ts';
import { commitOptimistically } from '../management/optimistic-commit.ts';
import { memberRole } from '../organization/member-grants.ts';
import { giveRole, isLastAdministrator, replaceRole } from '../organization/member-roles.ts';
import { requireRoom, type SizeLimits } from '../organization/size-limits.ts';
import { hashSecret } from '../secrets.ts';
import { type ClaimRules, type Claims, refusal, roleOfClaims, verifiedAddress } from './claim-rules.ts';
import { SESSION_AGE_MAX_MS } from './session.ts';
import { type NewSession, proposeSession, type SessionMeans } from './sessions.ts';

export type PeopleDeps = SessionMeans & { readonly rules: ClaimRules; readonly limits: SizeLimits };

/** Where the request of a sign-in comes from, and when. */
export type Visit = Pick<Actor, 'ip' | 'userAgent' | 'requestId' | 'traceId'> & { readonly nowMs: number };

/** Throws sign_in_refused for people who may not sign in. `claims` come from a token that was checked. */
export async function signPersonIn(deps: PeopleDeps, visit: Visit, claims: Claims): Promise<NewSession> {
  const { store, random } = deps;
  const known = await store.identity(claims.issuer, claims.subject);
  const organizationId = known?.organizationId ?? (await store.findHome(verifiedAddress(deps.rules, claims).email));
  if (organizationId === null) throw unavailableFault('There is no organization yet.', RETRY_AFTER_SECONDS);
  return await commitOptimistically(store, organizationId, {
    async attempt() {
      const person = await findPerson(deps, { visit, claims, organizationId });
      const given = await giveRoleOf(deps, { visit, claims, person });
      const { userId } = person.member;
      const actor: Actor = { ...actorOf(visit), organizationId, actorUserId: userId };
      const session = await proposeSession(deps, {
        ...{ actor, nowMs: visit.nowMs, owner: { userId }, endsAtMs: visit.nowMs + SESSION_AGE_MAX_MS },
        origin: { keyHash: identityHash(deps.pepper, claims), userId, apiKeyId: null, projectId: null },
      });
      const audited = [...person.audited, ...given.audited, session.audited];
      const audit = audited.map((action) => auditRecord(actor, action, { nowMs: visit.nowMs, random }));
      return { result: session.result, change: { ...person.change, ...given.change, ...session.change, audit } };
    },
  });
}

const RETRY_AFTER_SECONDS = 5;
const CLAIM = { keyId: 'sign-in', operation: 'sign-in' };

/** Whether the sign-in of this state comes back for the first time, to any process. */
export async function claimState(
  { store, retentionNowMs }: Pick<SessionMeans, 'store' | 'retentionNowMs'>,
  state: string,
  nowMs: number,
): Promise<boolean> {
  const organizationId = await store.findHome('');
  if (organizationId === null) return false;
  // Whoever claims removes expired receipts of all operations.
  const at = {
    nowMs,
    staleBeforeMs: nowMs - RECEIPT_KEPT_MS,
    expiredBeforeMs: retentionNowMs() - RECEIPT_KEPT_MS,
  };
  return (await store.claim(storedName({ ...CLAIM, organizationId, value: state }), NO_BYTES, at)) === 'claimed';
}

const NO_BYTES = Buffer.alloc(0);

function actorOf({ ip, userAgent, requestId, traceId }: Visit) {
  return { actorKind: 'session', actorKeyId: null, ip, userAgent, requestId, traceId } as const;
}

function identityHash(pepper: Buffer, { issuer, subject }: Claims): Buffer {
  return hashSecret(pepper, JSON.stringify([issuer, subject]));
}

type SignIn = { readonly visit: Visit; readonly claims: Claims };
type Change = Omit<ManagementChange, 'organizationId' | 'expectedVersion' | 'audit'>;

type Person = {
  readonly member: MemberRecord;
  readonly isNew: boolean;
  readonly change: Change;
  readonly audited: readonly AuditedAction[];
};

/** The member whose identity it is; the first time the member with that e-mail address, or a new one of an allowed domain. */
async function findPerson(
  deps: PeopleDeps,
  { visit, claims, organizationId }: SignIn & { readonly organizationId: string },
): Promise<Person> {
  const { store } = deps;
  const { issuer, subject } = claims;
  const known = await store.identity(issuer, subject);
  const member = known?.organizationId === organizationId ? await store.member(organizationId, known.userId) : null;
  if (member !== null) return { member: requireActive(member), isNew: false, change: {}, audited: [] };
  const { email, isAllowed } = verifiedAddress(deps.rules, claims);
  const members = await store.members(organizationId);
  const invited = members.find((each) => each.email === email);
  const link = (userId: string) => ({ organizationId, userId, issuer, subject, createdAtMs: visit.nowMs });
  if (invited !== undefined) {
    const { userId } = requireActive(invited);
    // An address may pass to another person, who is not to become this member.
    if ((await store.identityOf(organizationId, userId, issuer)) !== null) {
      throw refusal('Your e-mail address belongs to a member who signs in with another account of the issuer.');
    }
    const audited = [{ action: 'member.update', targetId: userId, fields: ['identity'] }];
    return { member: invited, isNew: false, change: { identities: [link(userId)] }, audited };
  }
  if (!isAllowed) throw refusal('You are not invited: ask an administrator to add you as a member.');
  requireRoom(deps.limits, 'member', members.length);
  const added = newMember(deps, visit, { organizationId, email, name: shownName(claims) ?? email });
  return {
    member: added,
    isNew: true,
    change: { members: [added], identities: [link(added.userId)] },
    audited: [{ action: 'member.create', targetId: added.userId, status: 201 }],
  };
}

function requireActive(member: MemberRecord): MemberRecord {
  if (member.disabledAtMs === null) return member;
  throw refusal('Your account is disabled: ask an administrator.');
}

function newMember(
  { random }: Pick<PeopleDeps, 'random'>,
  { nowMs }: Visit,
  named: Pick<MemberRecord, 'organizationId' | 'email' | 'name'>,
): MemberRecord {
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs, disabledAtMs: null };
  return { ...named, userId: newId('user', random), ...times };
}

const NAME_CHARACTERS_MAX = 255;

/** As members are named over the API. */
function shownName({ name }: Claims): string | null {
  const characters = [...(name ?? '').replaceAll('\0', '').trim()];
  return characters.slice(0, NAME_CHARACTERS_MAX).join('').toWellFormed() || null;
}

/** Gives the role of the claims, but leaves the last administrator one. */
async function giveRoleOf(
  { store, rules, random }: PeopleDeps,
  { visit, claims, person }: SignIn & { readonly person: Person },
): Promise<Pick<Person, 'change' | 'audited'>> {
  const { member, isNew } = person;
  const { organizationId, userId } = member;
  const means = { nowMs: visit.nowMs, random };
  const mapped = roleOfClaims(rules, claims);
  if (isNew) {
    const given = { member, role: mapped ?? rules.defaultRole, held: [] };
    return { change: { roleBindings: giveRole(given, means) }, audited: [] };
  }
  const held = await store.roleBindings(organizationId, userId);
  if (mapped === null || mapped === memberRole(held, organizationId) || (await isLastAdministrator(store, member))) {
    return { change: {}, audited: [] };
  }
  return {
    change: {
      members: [{ ...member, updatedAtMs: visit.nowMs }],
      ...replaceRole({ member, held, role: mapped }, means),
    },
    audited: [{ action: 'member.update', targetId: userId, fields: ['role'] }],
  };
}
