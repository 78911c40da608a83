/** Changes and removes stored traces. */

import type { Project } from '../caller.ts';
import { Fault, type Reason, validationFault } from '../fault.ts';
import { termStartMs, traceTermDays } from '../retention-terms.ts';
import type { CollectorLimits } from './collector/collector-reading.ts';
import { hasIdLength, lookupForms } from './trace-ids.ts';
import { type MetadataPatch, OVERSIZED_PATCH, readPatch } from './trace-metadata-patch.ts';

/** The port of these changes. */
export type TraceChangeStore = {
  /**
   * Removes a trace with its spans and evaluations; false when there is none. The removal MUST be atomic, a read that
   * begins after it resolves MUST NOT see any of the trace, and a later append MUST create a new trace.
   */
  removeTrace(trace: NamedTrace): Promise<boolean>;
  /**
   * Applies a patch to the metadata stored by then. Null when there is no such trace, `too_large` when its metadata
   * would become too large, which MUST change nothing. Else it MUST change only the metadata and the time of the last
   * change.
   */
  patchMetadata(trace: NamedTrace, patch: MetadataPatch, nowMs: number): Promise<PatchOutcome>;
};

export type NamedTrace = {
  readonly projectNumber: number;
  /** The exact normalised id. */
  readonly traceId: string;
  /** A trace first received before this instant has expired; null: none has. */
  readonly expiredBeforeMs: number | null;
};

type PatchOutcome = { readonly metadataJson: string } | 'too_large' | null;

export type TraceChanges = {
  /** Throws trace_not_found. */
  remove(project: Project, traceId: string, nowMs: number): Promise<void>;
  /** Throws validation_error, then trace_not_found. */
  patchMetadata(
    project: Project,
    change: { readonly traceId: string; readonly metadataJson: string },
    nowMs: number,
  ): Promise<{ readonly traceId: string; readonly metadataJson: string }>;
  /** The problems of a patch's JSON text. */
  patchProblems(metadataJson: string): readonly Reason[];
};

type TraceChangesDeps = {
  readonly store: TraceChangeStore;
  readonly limits: CollectorLimits;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

/** A longer patch has more characters than its field may have. */
const CHECKED_CHARACTERS_MAX = 65_536;

export function createTraceChanges({ store, limits, traceDefaultDays }: TraceChangesDeps): TraceChanges {
  /** The traces that an id may name; unlike a look-up, never by prefix. */
  function tracesOf(project: Project, traceId: string, nowMs: number): readonly NamedTrace[] {
    if (!hasIdLength(traceId)) return [];
    const expiredBeforeMs = termStartMs(traceTermDays(project.traceRetentionDays, traceDefaultDays), nowMs);
    const { exact, padded } = lookupForms(traceId);
    const ids = padded === null ? [exact] : [exact, padded];
    return ids.map((id) => ({ projectNumber: project.number, traceId: id, expiredBeforeMs }));
  }

  return {
    async remove(project, traceId, nowMs) {
      for (const trace of tracesOf(project, traceId, nowMs)) if (await store.removeTrace(trace)) return;
      throw traceNotFound();
    },

    async patchMetadata(project, { traceId, metadataJson }, nowMs) {
      const read = readPatch(metadataJson, limits);
      if (read.kind === 'problems') throw validationFault('json', read.reasons);
      for (const trace of tracesOf(project, traceId, nowMs)) {
        const outcome = await store.patchMetadata(trace, read.patch, nowMs);
        if (outcome === 'too_large') throw validationFault('json', [OVERSIZED_PATCH]);
        if (outcome !== null) return { traceId: trace.traceId, metadataJson: outcome.metadataJson };
      }
      throw traceNotFound();
    },

    patchProblems(metadataJson) {
      // The field's rule refuses it.
      if (metadataJson.length > CHECKED_CHARACTERS_MAX) return [];
      const read = readPatch(metadataJson, limits);
      return read.kind === 'problems' ? read.reasons : [];
    },
  };
}

export function traceNotFound(): Fault {
  return new Fault('trace_not_found', 'Trace not found.', { flatError: 'Trace not found.' });
}
