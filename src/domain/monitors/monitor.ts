/** Monitors and their port. A monitor runs a saved evaluator on traces. */

import type { RawNumber } from '../../json/lossless-json.ts';
import type { Resource, ResourceStore } from '../resources.ts';
import { SPAN_TYPES, type SpanType } from '../traces/trace.ts';

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

/** Maps a field of the evaluator to the source it is read from (see readSource). */
export type Mappings = { readonly [field: string]: string };

export type Monitor = Resource & {
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
};

/** Waiting jobs of a removed monitor are dropped when they are claimed, so that `remove` takes no longer with a backlog. */
export type MonitorStore = ResourceStore<Monitor> & {
  /**
   * MUST keep ids and slugs unique in the project: returns `slug_taken` without storing when the slug is used,
   * `limit_reached` when the project already holds `liveMax` monitors, and `evaluator_gone` when its evaluator was
   * deleted. Every append that begins after the answer MUST see the monitor.
   */
  insert(
    monitor: Monitor,
    limit: { readonly liveMax: number },
  ): Promise<'stored' | 'slug_taken' | 'limit_reached' | 'evaluator_gone'>;
  /** By id, and the number of the project. */
  findInProject(projectNumber: number, id: string): Promise<Monitor | null>;
  /** All monitors of the project that are not deleted. */
  list(projectId: string): Promise<readonly Monitor[]>;
  /**
   * Replaces all but id, slug and creation time. MUST return `stale` and store nothing when the monitor is deleted, or
   * was updated at another instant than `expectedUpdatedAtMs`; `evaluator_gone` when it is enabled and its evaluator was
   * deleted. Every append that begins after the answer MUST use the stored state; no append may be refused or lost
   * because of changes, however many there are.
   */
  replace(monitor: Monitor, expectedUpdatedAtMs: number): Promise<'stored' | 'stale' | 'evaluator_gone'>;
};

export type MappingSource =
  | { readonly kind: 'input' | 'output' | 'expected_output' | 'contexts' }
  | { readonly kind: 'metadata'; readonly key: string }
  /** The last started span of the type. */
  | { readonly kind: 'span'; readonly type: SpanType; readonly side: 'input' | 'output' };

const WHOLE = ['input', 'output', 'expected_output', 'contexts'] as const;
const METADATA = 'metadata.';
const SPAN = /^span\.([a-z]+)\.(input|output)$/;

/** The list of valid sources, for messages. */
export const SOURCES_TEXT = `${WHOLE.join(', ')}, metadata.<key>, span.<type>.input or span.<type>.output`;

/** Null for a text that is not a source. */
export function readSource(text: string): MappingSource | null {
  const whole = WHOLE.find((kind) => kind === text);
  if (whole !== undefined) return { kind: whole };
  if (text.startsWith(METADATA)) {
    const key = text.slice(METADATA.length);
    return key === '' ? null : { kind: 'metadata', key };
  }
  const [, named, side] = SPAN.exec(text) ?? [];
  const type = SPAN_TYPES.find((each) => each === named);
  return type === undefined ? null : { kind: 'span', type, side: side === 'input' ? 'input' : 'output' };
}

/** A field without a mapping is read from the source of the same name; null when there is no such source. */
export function sourceOfField(field: string, mapped: string | undefined): MappingSource | null {
  return readSource(mapped ?? field);
}
