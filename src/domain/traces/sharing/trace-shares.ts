/** Shares traces by links: making, listing, revoking and opening them. */

import type { Project } from '../../caller.ts';
import type { RandomBytes } from '../../clock.ts';
import { Fault, validationFault } from '../../fault.ts';
import { isPossibleId, newId } from '../../ids.ts';
import { type Actor, auditRecord } from '../../management/audit.ts';
import { type ProjectCall, requireStillMay } from '../../management/fresh-caller.ts';
import type { ManagementStore } from '../../management/management.ts';
import type { KeyStore } from '../../management/management-port.ts';
import { hashSecret, hasValidChecksum, mintSecretPart } from '../../secrets.ts';
import type { Traces, TraceView } from '../traces.ts';
import type { TraceShare, TraceShareStore } from './trace-share.ts';

type TraceSharesDeps = {
  readonly management: ManagementStore;
  readonly store: TraceShareStore;
  readonly traces: Pick<Traces, 'get'>;
  readonly findProject: KeyStore['findProject'];
  readonly pepper: Buffer;
  readonly random: RandomBytes;
  /** The present for what may be erased by its age. */
  readonly retentionNowMs: () => number;
  /** Whether the server makes and opens links at all. */
  readonly isOn: boolean;
};

type Call = ProjectCall & { readonly actor: Actor };

type Opening = Pick<Parameters<Traces['get']>[1], 'spansLimit' | 'spansCursor' | 'countResponseBytes'> & {
  readonly token: string;
  readonly nowMs: number;
};

export type NewTraceShare = { readonly share: TraceShare; readonly token: string };

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
const KEPT_MAX_MS = 366 * DAY_MS;
/** Links of a project that have not expired. */
const LIVE_MAX = 1_000;

export type TraceShares = ReturnType<typeof createTraceShares>;

export function createTraceShares(deps: TraceSharesDeps) {
  const { store, traces, findProject, pepper, random, isOn } = deps;
  return {
    /** Throws trace_sharing_off, validation_error, trace_not_found and trace_share_limit_reached. */
    async create(
      call: Call,
      asked: { readonly traceId: string; readonly expiresAtMs: number | null },
    ): Promise<NewTraceShare> {
      const { project, actor, nowMs } = call;
      if (!isOn) throw new Fault('trace_sharing_off', 'This server makes no links to traces.');
      const expiresAtMs = asked.expiresAtMs ?? nowMs + KEPT_MS;
      if (expiresAtMs <= nowMs || expiresAtMs > nowMs + KEPT_MAX_MS) throw validationFault('json', [EXPIRY]);
      const view = await traces.get(project, toPage(asked.traceId, { spansLimit: 1, spansCursor: '' }), nowMs);
      const { traceId, insertedAtMs } = view.record;
      const token = mintSecretPart(random);
      const share: TraceShare = {
        projectId: project.id,
        id: newId('traceshare', random),
        secretHash: hashSecret(pepper, token),
        traceId,
        createdBy: actor.actorUserId,
        // The clock of the process that received the trace may be ahead, and links open nothing that came after them.
        createdAtMs: Math.max(nowMs, insertedAtMs),
        expiresAtMs,
      };
      const audited = auditRecord(
        actor,
        { action: 'traceShare.create', targetId: share.id, status: 201 },
        { nowMs, random },
      );
      // A link outlives the credential that made it.
      await requireStillMay(deps.management, call, 'traces:share');
      const limits = { liveMax: LIVE_MAX, erasedBeforeMs: deps.retentionNowMs() };
      if ((await store.insert(share, limits, audited)) === 'stored') return { share, token };
      const message = `The project has ${LIVE_MAX} links to traces; revoke some first.`;
      throw new Fault('trace_share_limit_reached', message);
    },
    /** Those that have not expired, the newest first. */
    list: (project: Project, of: { readonly traceId: string | null; readonly nowMs: number }) =>
      store.list(project.id, of),
    /** Throws trace_share_not_found. */
    async revoke({ project, actor, nowMs }: Call, id: string): Promise<void> {
      const audited = auditRecord(actor, { action: 'traceShare.revoke', targetId: id }, { nowMs, random });
      if (!isPossibleId(id) || !(await store.remove(project.id, id, audited))) throw notFound();
    },
    /** The trace of a link, with its project. Throws trace_share_not_found and invalid_cursor. */
    async open({ token, nowMs, ...page }: Opening): Promise<{ readonly project: Project; readonly view: TraceView }> {
      // Links that nobody made cost no read.
      const share = isOn && hasValidChecksum(token) ? await store.findBySecret(hashSecret(pepper, token)) : null;
      if (share === null || nowMs >= share.expiresAtMs) throw notFound();
      const project = await findProject(share.projectId);
      if (project === null) throw notFound();
      // Another trace may have an id that begins like that of a trace which is gone.
      const named = { traceId: share.traceId, isExact: true };
      const view = await traces.get(project, { ...page, ...named }, nowMs).catch((error: unknown) => {
        throw error instanceof Fault && error.kind === 'not_found' ? notFound() : error;
      });
      // A trace that was deleted, and sent again under its id, is another one.
      if (view.record.insertedAtMs > share.createdAtMs) throw notFound();
      return { project, view };
    },
  };
}

const EXPIRY = {
  field: 'expiresAt',
  type: 'custom',
  message: 'expiresAt must be in the future, at most a year away',
} as const;

function toPage(traceId: string, page: { readonly spansLimit: number; readonly spansCursor: string }) {
  return { traceId, ...page, countResponseBytes: () => {} };
}

function notFound(): Fault {
  return new Fault('trace_share_not_found', 'This link leads nowhere: it is not known, has expired, or was revoked.');
}
