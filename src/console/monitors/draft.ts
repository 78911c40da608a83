/** Converts a monitor between the form and the api. */

import { type Monitor, MonitorExecutionMode } from '../../../gen/spandrel/v1/monitors_pb.js';

export type ConditionDraft = {
  readonly of: 'span.type' | 'label' | 'metadata';
  /** The metadata key. */
  readonly key: string;
  readonly type: 'text' | 'number' | 'flag';
  readonly value: string;
};

export type MonitorDraft = {
  readonly name: string;
  readonly evaluatorId: string;
  readonly executionMode: MonitorExecutionMode;
  /** The typed percentage. */
  readonly percent: string;
  readonly conditions: readonly ConditionDraft[];
  /** Sources by evaluator field; empty means the source of the same name. */
  readonly mappings: { readonly [field: string]: string };
};

export const EMPTY_CONDITION: ConditionDraft = { of: 'label', key: '', type: 'text', value: '' };
const METADATA = 'metadata.';

export function emptyDraft(evaluatorId: string): MonitorDraft {
  return {
    name: '',
    evaluatorId,
    executionMode: MonitorExecutionMode.ON_MESSAGE,
    percent: '100',
    conditions: [],
    mappings: {},
  };
}

export function toDraft(monitor: Monitor): MonitorDraft {
  return {
    name: monitor.name ?? '',
    evaluatorId: monitor.evaluatorId ?? '',
    executionMode: monitor.executionMode,
    percent: toPercent(monitor.sample ?? 1),
    conditions: monitor.preconditions.map(({ field = '', valueJson = '""' }) => toConditionDraft(field, valueJson)),
    mappings: readMappings(monitor.mappingsJson),
  };
}

/** Rounds away floating-point noise. */
export function toPercent(sample: number): string {
  return String(Number((sample * 100).toPrecision(12)));
}

export function isComplete({ name, evaluatorId, percent, conditions }: MonitorDraft): boolean {
  const isConditionComplete = ({ of, key, value }: ConditionDraft) =>
    value !== '' && (of !== 'metadata' || key.trim() !== '');
  return name.trim() !== '' && evaluatorId !== '' && percent !== '' && conditions.every(isConditionComplete);
}

export function toMonitor({ name, evaluatorId, executionMode, percent, conditions, mappings }: MonitorDraft) {
  const named = Object.entries(mappings).filter(([, source]) => source.trim() !== '');
  return {
    name: name.trim(),
    evaluatorId,
    executionMode,
    sample: Number(percent) / 100,
    preconditions: conditions.map(({ of, key, type, value }) => ({
      field: of === 'metadata' ? `${METADATA}${key.trim()}` : of,
      valueJson: of === 'metadata' && type !== 'text' ? value.trim() : JSON.stringify(value),
    })),
    mappingsJson: JSON.stringify(Object.fromEntries(named.map(([field, source]) => [field, source.trim()]))),
  };
}

function toConditionDraft(field: string, valueJson: string): ConditionDraft {
  const value: unknown = JSON.parse(valueJson);
  const isText = typeof value === 'string';
  return {
    of: field === 'span.type' || field === 'label' ? field : 'metadata',
    key: field.startsWith(METADATA) ? field.slice(METADATA.length) : '',
    type: isText ? 'text' : typeof value === 'boolean' ? 'flag' : 'number',
    // A number keeps its original digits.
    value: isText ? value : valueJson,
  };
}

function readMappings(json: string | undefined): MonitorDraft['mappings'] {
  const mappings = JSON.parse(json ?? '{}') as { readonly [field: string]: unknown };
  const texts = Object.entries(mappings).map(([field, source]) => [field, toSourceText(source)] as const);
  return Object.fromEntries(texts);
}

/** LangWatch's clients write an object with a `source`. */
function toSourceText(source: unknown): string {
  if (typeof source === 'string') return source;
  const named = typeof source === 'object' && source !== null ? (source as { readonly source?: unknown }).source : null;
  return typeof named === 'string' ? named : '';
}
