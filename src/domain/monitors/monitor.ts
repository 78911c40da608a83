/** Monitors and their port. A monitor runs a saved evaluator on traces. */

import type { RawNumber } from '../../json/lossless-json.ts';

const EXECUTION_MODES = ['ON_MESSAGE', 'AS_GUARDRAIL', 'MANUALLY'] as const;
export type ExecutionMode = (typeof EXECUTION_MODES)[number];

/** Integers that a double cannot hold keep their digits. */
export type PreconditionValue = string | number | boolean | RawNumber;

/** A condition on the trace. */
export type Precondition = {
  /** `span.type`, `label` or `metadata.<key>`. */
  readonly field: string;
  readonly value: PreconditionValue;
};

/** Maps a field of the evaluator to the source it is read from (see sources.ts). */
export type Mappings = { readonly [field: string]: string };

export type Monitor = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly evaluatorId: string;
  /** The catalogue id of the evaluator. */
  readonly checkType: string;
  readonly enabled: boolean;
  /** The share of traces that it evaluates, from 0 to 1. */
  readonly sample: number;
  readonly preconditions: readonly Precondition[];
  readonly mappings: Mappings;
  /** Compact JSON text of an object: settings that override those of the evaluator. */
  readonly parametersJson: string;
  readonly executionMode: ExecutionMode;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type MonitorStore = {
  /**
   * MUST keep ids and slugs unique in the project: answers `slug_taken` without storing when the slug is used,
   * `limit_reached` when the project already holds `liveMax` monitors, and `evaluator_gone` when its evaluator was
   * deleted. Every append that begins after the answer MUST see the monitor.
   */
  insert(
    monitor: Monitor,
    limit: { readonly liveMax: number },
  ): Promise<'stored' | 'slug_taken' | 'limit_reached' | 'evaluator_gone'>;
  /** By id first, then by slug, case-sensitive; null for a monitor of another project or a deleted one. */
  find(projectId: string, idOrSlug: string): Promise<Monitor | null>;
  /** By id, and the number of the project. */
  findInProject(projectNumber: number, id: string): Promise<Monitor | null>;
  /** All monitors of the project that are not deleted. */
  list(projectId: string): Promise<readonly Monitor[]>;
  /**
   * Replaces all but id, slug and creation time. MUST answer `stale` and store nothing when the monitor is deleted, or
   * was updated at another instant than `expectedUpdatedAtMs`; `evaluator_gone` when it is enabled and its evaluator was
   * deleted. Every append that begins after the answer MUST use the stored state; no append may be refused or lost
   * because of changes, however many there are.
   */
  replace(monitor: Monitor, expectedUpdatedAtMs: number): Promise<'stored' | 'stale' | 'evaluator_gone'>;
  /**
   * MUST hide the monitor from every later read, and free its slug and its share of the limit. False when it does not
   * exist. Its waiting jobs are dropped when they are claimed, so that removing takes no longer with a backlog.
   */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};
