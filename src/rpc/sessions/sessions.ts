/** SessionService: message <-> domain values, and the cookie. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SessionSchema, SessionService } from '../../../gen/spandrel/v1/sessions_pb.js';
import { sessionCookie } from '../../auth/session-cookie.ts';
import type { SessionCall } from '../../domain/sessions/reach.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import type { Sessions } from '../../domain/sessions/sessions.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { fieldsOf } from '../field-values.ts';
import { nulProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';

const SET_COOKIE = 'set-cookie';

export function createSessionRpc({ sessions }: { readonly sessions: Sessions }): Implementation<typeof SessionService> {
  return {
    async createSession(_, context) {
      const { session, secret } = await sessions.begin(callOf(context));
      const maxAgeMs = session.expiresAtMs - session.createdAtMs;
      context.responseHeaders[SET_COOKIE] = sessionCookie(secret, { maxAgeMs, isSecure: context.isSecure });
      return { session: toMessage(session, null) };
    },
    async getSession(_, context) {
      const { session, ...reached } = await sessions.reach(callOf(context));
      return { ...fieldsOf(reached), session: session === null ? undefined : toMessage(session, session.id) };
    },
    async listSessions(request, context) {
      const call = callOf(context);
      const current = call.caller.session?.id ?? null;
      return pageMessage(await sessions.list(call, cursorRequest(request)), (session) => toMessage(session, current));
    },
    revokeSession: {
      check: nulProblems,
      async handle({ id }, context) {
        await sessions.revoke(callOf(context), id);
        return {};
      },
    },
    async logout(_, context) {
      await sessions.end(callOf(context));
      context.responseHeaders[SET_COOKIE] = sessionCookie('', { maxAgeMs: 0, isSecure: context.isSecure });
      return {};
    },
  };
}

function callOf({ caller, actor, nowMs }: Pick<Context, 'caller' | 'actor' | 'nowMs'>): SessionCall {
  if (caller.kind === 'open' || actor === null) throw new Error('the policy let a call without a credential through');
  return { caller, actor, nowMs };
}

function toMessage(session: SessionRecord, currentId: string | null): MessageInitShape<typeof SessionSchema> {
  return { ...fieldsOf(session), current: session.id === currentId };
}
