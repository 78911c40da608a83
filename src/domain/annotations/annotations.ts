/** The annotations on the traces of a project. */

import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { type Actor, auditRecord, changedFields } from '../management/audit.ts';
import { refuseProblems } from '../reasons.ts';
import { nextUpdateMs, retryStale } from '../resources.ts';
import { termStartMs, traceTermDays } from '../retention-terms.ts';
import type { TraceStore } from '../traces/telemetry-port.ts';
import { traceNotFound } from '../traces/trace-changes.ts';
import { hasIdLength, lookupForms, normaliseSpanId } from '../traces/trace-ids.ts';
import type { Annotation, AnnotationStore, AnnotationWrite, ScoreStore } from './annotation.ts';
import {
  type AnnotationContent,
  type AnnotationDraft,
  anchorKindOf,
  emptyProblems,
  readScores,
  scoresProblems,
} from './annotation-draft.ts';
import { CLAIM_MS, reviewerOf } from './reviewer.ts';

type AnnotationDeps = {
  readonly store: AnnotationStore;
  readonly scores: Pick<ScoreStore, 'list'>;
  readonly traces: Pick<TraceStore, 'find'>;
  readonly random: RandomBytes;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

export type AnnotationCall = { readonly project: Project; readonly actor: Actor; readonly nowMs: number };

type ReadCall = Pick<AnnotationCall, 'project' | 'nowMs'>;

type Listing = {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly isOfTraces: boolean;
  readonly count: (read: readonly Annotation[]) => void;
};

const LISTED_MAX = 1_000;
/** They may be large. */
const READ_AT_ONCE = 50;
/** Of one trace. */
const ANNOTATIONS_MAX = 100;
const REFUSAL = 'Others keep changing this annotation or its scores; try again.';

const FIELDS = {
  comment: 'comment',
  isThumbsUp: 'isThumbsUp',
  email: 'email',
  scoreOptions: 'scores',
  expectedOutput: 'expectedOutput',
} as const;

export type Annotations = ReturnType<typeof createAnnotations>;

export function createAnnotations({ store, scores, traces, random, traceDefaultDays }: AnnotationDeps) {
  const expiredBefore = ({ project, nowMs }: ReadCall) =>
    termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs);

  /** The stored id of a trace. Throws trace_not_found. */
  async function traceIdOf(call: ReadCall, sent: string) {
    const expiredBeforeMs = expiredBefore(call);
    const { project } = call;
    if (hasIdLength(sent)) {
      const { exact, padded } = lookupForms(sent);
      for (const id of padded === null ? [exact] : [exact, padded]) {
        const found = await traces.find(project.number, id);
        if (found !== null && found.insertedAtMs >= (expiredBeforeMs ?? Number.NEGATIVE_INFINITY)) return found.traceId;
      }
    }
    throw traceNotFound();
  }

  /** One on a trace that has expired is not found, whether or not it is erased yet. */
  async function find(call: ReadCall, id: string): Promise<Annotation> {
    const found = isPossibleId(id) ? await store.find(call.project.number, id, expiredBefore(call)) : null;
    if (found === null) throw notFound();
    return found;
  }

  /** The content of an annotation after what is sent, with the definitions that it relies on. Throws validation_error. */
  async function merge(project: Project, known: Annotation, sent: AnnotationContent) {
    const { scoresJson } = sent;
    refuseProblems(scoresProblems(scoresJson));
    const definitions = scoresJson == null ? [] : await scores.list(project.number);
    const read = scoresJson == null ? null : readScores(scoresJson, definitions, known.scores);
    refuseProblems(read?.reasons ?? []);
    const merged: Annotation = {
      ...known,
      comment: sent.comment === undefined ? known.comment : (sent.comment ?? ''),
      isThumbsUp: sent.isThumbsUp === undefined ? known.isThumbsUp : sent.isThumbsUp,
      email: sent.email === undefined ? known.email : sent.email,
      scores: scoresJson === undefined ? known.scores : (read?.scores ?? {}),
      expectedOutput: sent.expectedOutput === undefined ? known.expectedOutput : sent.expectedOutput,
    };
    refuseProblems(emptyProblems({ ...merged, scoresJson: JSON.stringify(merged.scores) }));
    const expected = definitions.filter(({ id }) => Object.hasOwn(merged.scores, id));
    return { merged, expected: expected.map(({ id, dataType }) => ({ id, dataType })) };
  }

  function activityOf({ actor, nowMs }: AnnotationCall): AnnotationWrite['activity'] {
    return { reviewer: reviewerOf(actor), untilMs: nowMs + CLAIM_MS };
  }

  return {
    /** Throws validation_error, trace_not_found and annotation_limit_reached. */
    async create(call: AnnotationCall, draft: AnnotationDraft): Promise<Annotation> {
      const { project, actor, nowMs } = call;
      const traceId = await traceIdOf(call, draft.traceId);
      const empty: Annotation = {
        id: newId('annotation', random),
        traceId,
        spanId: draft.spanId === null ? null : normaliseSpanId(draft.spanId),
        anchorKind: anchorKindOf(draft),
        anchorPath: draft.anchorPath,
        comment: '',
        isThumbsUp: null,
        userId: actor.actorUserId,
        email: null,
        scores: {},
        expectedOutput: null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const action = { action: 'annotation.create', targetId: empty.id };
      return await retryStale(REFUSAL, async () => {
        const { merged, expected } = await merge(project, empty, draft);
        const outcome = await store.insert({
          projectNumber: project.number,
          annotation: merged,
          expected,
          activity: activityOf(call),
          audited: auditRecord(actor, action, { nowMs, random }),
          annotationsMax: ANNOTATIONS_MAX,
        });
        if (outcome === 'no_trace') throw traceNotFound();
        if (outcome === 'limit_reached') {
          throw new Fault('annotation_limit_reached', `A trace holds at most ${ANNOTATIONS_MAX} annotations.`);
        }
        return outcome === 'stored' ? merged : outcome;
      });
    },

    /** Throws validation_error and annotation_not_found. */
    async update(call: AnnotationCall, id: string, sent: AnnotationContent): Promise<Annotation> {
      const { project, actor, nowMs } = call;
      return await retryStale(REFUSAL, async () => {
        const known = await find(call, id);
        const { merged, expected } = await merge(project, known, sent);
        const fields = changedFields(FIELDS, known, merged);
        if (fields.length === 0) return known;
        const annotation = { ...merged, updatedAtMs: nextUpdateMs(known, nowMs) };
        const outcome = await store.replace({
          projectNumber: project.number,
          annotation,
          expected,
          expectedUpdatedAtMs: known.updatedAtMs,
          activity: activityOf(call),
          audited: auditRecord(actor, { action: 'annotation.update', targetId: id, fields }, { nowMs, random }),
        });
        return outcome === 'stored' ? annotation : outcome;
      });
    },

    /** Throws annotation_not_found. */
    async remove(call: AnnotationCall, id: string): Promise<void> {
      const { project, actor, nowMs } = call;
      await find(call, id);
      const audited = auditRecord(actor, { action: 'annotation.delete', targetId: id }, { nowMs, random });
      if (!(await store.remove(project.number, id, { nowMs, audited }))) throw notFound();
    },

    /** Throws annotation_not_found. */
    get: find,

    /** The newest first. `count` is told of those that were read, and may throw before more are. */
    async list(call: ReadCall, { fromMs, toMs, isOfTraces, count }: Listing): Promise<readonly Annotation[]> {
      const of = { projectNumber: call.project.number, expiredBeforeMs: expiredBefore(call) };
      const range = { ...of, fromMs: fromMs ?? 0, toMs: toMs ?? Number.MAX_SAFE_INTEGER };
      const listed: Annotation[] = [];
      while (listed.length < LISTED_MAX) {
        const limit = Math.min(READ_AT_ONCE, LISTED_MAX - listed.length);
        const some = await store.list({ ...range, isOfTraces, after: listed.at(-1) ?? null, limit });
        count(some);
        listed.push(...some);
        if (some.length < limit) break;
      }
      return listed;
    },

    /** The oldest first; none for an unknown trace. */
    async listOf(at: ReadCall, sentTraceId: string, isOfTrace: boolean): Promise<readonly Annotation[]> {
      const traceId = await traceIdOf(at, sentTraceId).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'trace_not_found') return null;
        throw error;
      });
      const listed = traceId === null ? [] : await store.listOf(at.project.number, [traceId]);
      return isOfTrace ? listed.filter(({ anchorKind }) => anchorKind === 'trace') : listed;
    },
  };
}

function notFound(): Fault {
  return new Fault('annotation_not_found', 'Annotation not found.', { flatError: 'Annotation not found.' });
}
