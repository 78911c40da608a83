/** What reviewers say about traces, the scores they give, and the ports of both. */

import type { AuditRecord } from '../management/management.ts';
import type { Scores } from './score.ts';

export type Annotation = {
  readonly id: string;
  readonly traceId: string;
  readonly spanId: string | null;
  readonly anchorKind: AnchorKind;
  readonly anchorPath: string | null;
  /** May be empty. */
  readonly comment: string;
  readonly isThumbsUp: boolean | null;
  /** The member who made it; null for service keys and project keys. */
  readonly userId: string | null;
  readonly email: string | null;
  readonly scores: Scores;
  readonly expectedOutput: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** UTF-16 code units of its texts. */
export function annotationUnits({ comment, expectedOutput, scores }: Annotation): number {
  return comment.length + (expectedOutput?.length ?? 0) + JSON.stringify(scores).length;
}

export type AnchorKind = 'trace' | 'span' | 'message' | 'field';

export type ScoreType = 'BOOLEAN' | 'CATEGORICAL' | 'NUMERIC' | 'TEXT';

export type ScoreDefinition = {
  readonly id: string;
  readonly name: string;
  readonly dataType: ScoreType;
  /** Empty for other types than CATEGORICAL. */
  readonly options: readonly string[];
  /** Null for other types than NUMERIC, too. */
  readonly min: number | null;
  readonly max: number | null;
  readonly active: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** Definitions that an annotation relies on, as they were read. */
export type ExpectedScores = readonly Pick<ScoreDefinition, 'id' | 'dataType'>[];

export type AnnotationWrite = {
  readonly projectNumber: number;
  readonly annotation: Annotation;
  readonly expected: ExpectedScores;
  /** Whose claims of the trace in queues last longer by it, until then. */
  readonly activity: { readonly reviewer: string; readonly untilMs: number };
  readonly audited: AuditRecord;
};

export type AnnotationListing = {
  readonly projectNumber: number;
  /** Those on traces that were first received before this instant are left out; null: none is. */
  readonly expiredBeforeMs: number | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether those about parts of traces are left out. */
  readonly isOfTraces: boolean;
  /** Only those behind this one; null: from the newest on. */
  readonly after: Pick<Annotation, 'createdAtMs' | 'id'> | null;
  readonly limit: number;
};

/**
 * Every change notes the trace as changed, and stores its entry of the audit log with it. Annotations of traces that are
 * removed MUST be removed with them.
 */
export type AnnotationStore = {
  /**
   * MUST return `no_trace` and store nothing when there is no such trace, `limit_reached` when it has `annotationsMax`
   * annotations, and `stale` when an expected definition is gone or has another type.
   */
  insert(
    write: AnnotationWrite & { readonly annotationsMax: number },
  ): Promise<'stored' | 'no_trace' | 'limit_reached' | 'stale'>;
  /** MUST return `stale` and store nothing also when the annotation changed at another instant than `expectedUpdatedAtMs`. */
  replace(write: AnnotationWrite & { readonly expectedUpdatedAtMs: number }): Promise<'stored' | 'stale'>;
  /** False when there is none. */
  remove(projectNumber: number, id: string, change: { nowMs: number; audited: AuditRecord }): Promise<boolean>;
  /** Null also where its trace was first received before `expiredBeforeMs`, if given. */
  find(projectNumber: number, id: string, expiredBeforeMs: number | null): Promise<Annotation | null>;
  /** The newest first. */
  list(listing: AnnotationListing): Promise<readonly Annotation[]>;
  /** Of some traces, the oldest first. */
  listOf(projectNumber: number, traceIds: readonly string[]): Promise<readonly Annotation[]>;
  /** Of some traces; those without annotations are left out. */
  countOf(
    projectNumber: number,
    traceIds: readonly string[],
  ): Promise<readonly { readonly traceId: string; readonly count: number }[]>;
};

export type ScoreStore = {
  /** Without deleted ones, the oldest first. */
  list(projectNumber: number): Promise<readonly ScoreDefinition[]>;
  /** MUST return `name_taken` or `limit_reached` and store nothing; deleted ones do not count. */
  insert(
    projectNumber: number,
    definition: ScoreDefinition,
    change: { readonly liveMax: number; readonly audited: AuditRecord },
  ): Promise<'stored' | 'name_taken' | 'limit_reached'>;
  /**
   * MUST return `stale` when the definition changed at another instant than `expectedUpdatedAtMs` or is gone, and `in_use` when
   * its type would change although an annotation has such a score; both store nothing.
   */
  replace(
    projectNumber: number,
    definition: ScoreDefinition,
    change: { readonly expectedUpdatedAtMs: number; readonly audited: AuditRecord },
  ): Promise<'stored' | 'stale' | 'name_taken' | 'in_use'>;
  /** False when there is none. Scores that were given before stay. */
  remove(projectNumber: number, id: string, change: { nowMs: number; audited: AuditRecord }): Promise<boolean>;
};
