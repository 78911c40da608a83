/**
 * What of a trace an index knows of, and what a filter asks of that. It says the same as the judge of trace-filter.ts,
 * and whoever answers a search still asks the judge about the traces that are answered.
 */

import { isArray } from '../free-json.ts';
import type { LosslessObject } from '../lossless-json.ts';
import {
  bareText,
  type Condition,
  type EvaluationFacts,
  type FilterName,
  ORIGIN_DEFAULT,
  readMetadata,
  type SearchDocument,
} from '../trace-filter.ts';

/** A trace that has more is judged at every search. */
export const FACETS_MAX = 250;

/** Values that traces have; `isExact` is false where a trace may have one and not fit all the same. */
export type AskedFacets = { readonly anyOf: readonly string[]; readonly isExact: boolean };

/** Distinct; null: the trace has too many. */
export function facetsOf(document: SearchDocument): ReadonlySet<string> | null {
  const facets = new Set<string>();
  const add = (kind: Kind, value: string, of = '') => facets.add(nameFacet(kind, value, of));
  addMetadata(readMetadata(document.metadataJson), add);
  add('error', String(document.hasError));
  add('name', document.name);
  for (const { type, model } of document.spans) {
    add('type', type);
    if (model !== null) add('model', model);
    if (facets.size > FACETS_MAX) return null;
  }
  for (const evaluation of document.evaluations) {
    addEvaluation(evaluation, add);
    if (facets.size > FACETS_MAX) return null;
  }
  return facets.size > FACETS_MAX ? null : facets;
}

/** Values of which a trace that fits a condition has at least one. */
export function facetsAskedBy({ name, of, values }: Condition): AskedFacets {
  if (name === 'evaluations.score') return { anyOf: [nameFacet('scored by', of)], isExact: false };
  const [kind, owner] = ASKED[name];
  return { anyOf: values.map((value) => nameFacet(kind, value, owner ?? of)), isExact: true };
}

type Kind =
  | 'value'
  | 'key'
  | 'item'
  | 'origin'
  | 'error'
  | 'name'
  | 'type'
  | 'model'
  | 'evaluated by'
  | 'guarded by'
  | 'passed by'
  | 'scored by'
  | 'labelled by'
  | 'passed'
  | 'state'
  | 'label';

/** What a facet is called: no two values share a name. */
function nameFacet(kind: Kind, value: string, of = ''): string {
  return `${kind} ${of.length} ${of}${value}`;
}

type Add = (kind: Kind, value: string, of?: string) => void;

/** Keys whose items are asked for one by one. */
const LISTS = ['labels', 'prompt_ids'];

function addMetadata(metadata: LosslessObject, add: Add): void {
  for (const [key, value] of Object.entries(metadata).slice(0, FACETS_MAX + 1)) {
    add('key', key);
    add('value', bareText(value), key);
    if (LISTS.includes(key)) for (const item of isArray(value) ? value : [value]) add('item', bareText(item), key);
  }
  const { origin } = metadata;
  add('origin', Object.hasOwn(metadata, 'origin') && origin !== undefined ? bareText(origin) : ORIGIN_DEFAULT);
}

function addEvaluation({ evaluatorId, isGuardrail, status, passed, score, label }: EvaluationFacts, add: Add): void {
  add('evaluated by', evaluatorId);
  if (isGuardrail) add('guarded by', evaluatorId);
  if (passed !== null) {
    add('passed by', evaluatorId);
    add('passed', String(passed), evaluatorId);
  }
  if (score !== null) add('scored by', evaluatorId);
  if (label !== null) {
    add('labelled by', evaluatorId);
    add('label', label, evaluatorId);
  }
  add('state', status, evaluatorId);
}

/** What a filter asks for, and of what; where that is not said, the condition says it. */
const ASKED: Readonly<Record<Exclude<FilterName, 'evaluations.score'>, readonly [Kind, string?]>> = {
  'metadata.user_id': ['value', 'user_id'],
  'metadata.thread_id': ['value', 'thread_id'],
  'metadata.customer_id': ['value', 'customer_id'],
  'metadata.labels': ['item', 'labels'],
  'metadata.key': ['key'],
  'metadata.prompt_ids': ['item', 'prompt_ids'],
  'metadata.value': ['value'],
  'traces.origin': ['origin'],
  'traces.error': ['error'],
  'traces.name': ['name'],
  'spans.type': ['type'],
  'spans.model': ['model'],
  'evaluations.evaluator_id': ['evaluated by'],
  'evaluations.evaluator_id.guardrails_only': ['guarded by'],
  'evaluations.evaluator_id.has_passed': ['passed by'],
  'evaluations.evaluator_id.has_score': ['scored by'],
  'evaluations.evaluator_id.has_label': ['labelled by'],
  'evaluations.passed': ['passed'],
  'evaluations.state': ['state'],
  'evaluations.label': ['label'],
};
