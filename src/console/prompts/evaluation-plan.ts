/** What a prompt is evaluated on. The run keeps it in its target, so that it can go on in any tab, also after a reload. */

import type { ExperimentRun } from '../../../gen/spandrel/v1/experiments_pb.js';

export type Plan = {
  readonly promptId: string;
  readonly version: number;
  readonly virtualKeyId: string;
  /** The column of the dataset for each variable; one without a column is left out. */
  readonly mapping: { readonly [variable: string]: string };
  /** The ids of evaluators that judge each answer. */
  readonly evaluators: readonly string[];
  /** How many entries of the dataset are used, from its first. */
  readonly entries: number;
};

/** A run asks a model for each: more belong into a program. */
export const ENTRIES_MAX = 200;
/** Of the metadata of a target. */
const METADATA_MAX_BYTES = 4_096;
const TYPE = 'prompt';

export type Entry = { readonly [column: string]: unknown };

/** Entries are JSON objects. */
export function readEntry(json: string): Entry {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? (value as Entry) : {};
}

/** The columns of entries, those of the first ones first. */
export function columnsOf(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
}

/** The variables that have the name of a column take it, and a variable alone takes the input. */
export function guessMapping(variables: readonly string[], columns: readonly string[]): Plan['mapping'] {
  const named = variables.filter((name) => columns.includes(name));
  const [only] = variables;
  if (named.length === 0 && variables.length === 1 && only !== undefined && columns.includes('input')) {
    return { [only]: 'input' };
  }
  return Object.fromEntries(named.map((name) => [name, name]));
}

/** The values of the variables for an entry. */
export function valuesOf(mapping: Plan['mapping'], entry: Entry): { readonly [variable: string]: unknown } {
  const mapped = Object.entries(mapping).filter(([, column]) => entry[column] !== undefined);
  return Object.fromEntries(mapped.map(([variable, column]) => [variable, entry[column]]));
}

/** The target of a run: the same for all versions of a prompt, so that runs of two versions can be compared. */
export function toTarget(plan: Plan, handle: string) {
  return {
    id: plan.promptId,
    name: `${handle} version ${plan.version}`,
    type: TYPE,
    metadataJson: JSON.stringify(plan),
  };
}

export function fitsTarget(plan: Plan): boolean {
  return new TextEncoder().encode(JSON.stringify(plan)).length <= METADATA_MAX_BYTES;
}

/** Null: the run was not made here. */
export function planOf({ targets }: ExperimentRun, promptId: string): Plan | null {
  const target = targets.find(({ id, type }) => id === promptId && type === TYPE);
  if (target?.metadataJson === undefined) return null;
  const plan = JSON.parse(target.metadataJson) as Partial<Plan>;
  return isPlan(plan) ? (plan as Plan) : null;
}

/** Anybody may send a target. */
function isPlan({ promptId, version, virtualKeyId, mapping, evaluators, entries }: Partial<Plan>): boolean {
  const numbers = [version, entries].every((each) => Number.isInteger(each));
  return [promptId, virtualKeyId].every((each) => typeof each === 'string') && numbers && isListed(evaluators, mapping);
}

function isListed(evaluators: unknown, mapping: unknown): boolean {
  return Array.isArray(evaluators) && typeof mapping === 'object' && mapping !== null;
}
