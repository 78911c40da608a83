/**
 * Facets: the values of a trace that the index stores, and those that a filter requires. They agree with the matcher of
 * trace-filter.ts, which a search still runs on the traces that it returns.
 */

import { isArray } from '../../../json/free-json.ts';
import type { LosslessObject } from '../../../json/lossless-json.ts';
import { PROMPT_IDS } from '../prompt-links.ts';
import {
  bareText,
  type EvaluationFacts,
  type FilterName,
  ORIGIN_DEFAULT,
  type RangeName,
  readMetadata,
  type SearchDocument,
  type ValueName,
  type Wanted,
} from './trace-filter.ts';

/** Facets of which one is required; `isExact` is false where a trace with one may still not match. */
export type FacetCondition = Wanted & { readonly name: Exclude<FilterName, RangeName> };
export type RequiredFacets = { readonly anyOf: readonly string[]; readonly isExact: boolean };

export function facetsOf(document: SearchDocument): ReadonlySet<string> {
  const facets = new Set<string>();
  const add = (kind: Kind, value: string, of = '') => facets.add(nameFacet(kind, value, of));
  addMetadata(readMetadata(document.metadataJson), add);
  add('error', String(document.hasError));
  add('name', document.name);
  for (const { type, model } of document.spans) {
    add('type', type);
    if (model !== null) add('model', model);
  }
  for (const evaluation of document.evaluations) addEvaluation(evaluation, add);
  if (document.annotations.length > 0) add('annotated', 'true');
  for (const { type, metricsJson } of document.feedback) {
    add('event', type);
    for (const name of Object.keys(JSON.parse(metricsJson) as object)) add('measured', name);
  }
  return facets;
}

/** Facets of which a matching trace has at least one. No facet tells a number of the trace itself. */
export function requiredFacets({ name, of, values }: FacetCondition): RequiredFacets {
  if (name === 'evaluations.score') return { anyOf: [nameFacet('scored by', of)], isExact: false };
  if (name === 'annotations.score') return { anyOf: [nameFacet('annotated', 'true')], isExact: false };
  // A trace that was indexed before there were annotations says nothing of them; each one says whether it has an error.
  if (name === 'annotations.hasAnnotation' && values.some((value) => value !== 'true')) {
    return { anyOf: ['true', 'false'].map((value) => nameFacet('error', value)), isExact: false };
  }
  if (name === 'events.metrics') return { anyOf: [nameFacet('measured', of)], isExact: false };
  const [kind, owner]: readonly [Kind, string?] = FACET_KINDS[name];
  return { anyOf: values.map((value) => nameFacet(kind, value, owner ?? of)), isExact: true };
}

/** The name of a facet: no two values share one. */
function nameFacet(kind: Kind, value: string, of = ''): string {
  return `${kind} ${of.length} ${of}${value}`;
}

type Add = (kind: Kind, value: string, of?: string) => void;

/** Keys whose items are facets. */
const LISTS = ['labels', PROMPT_IDS];

function addMetadata(metadata: LosslessObject, add: Add): void {
  for (const [key, value] of Object.entries(metadata)) {
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

/** Facet kind and key of each filter; a key left out comes from the condition. */
const FACET_KINDS = {
  'metadata.user_id': ['value', 'user_id'],
  'metadata.thread_id': ['value', 'thread_id'],
  'metadata.customer_id': ['value', 'customer_id'],
  'metadata.labels': ['item', 'labels'],
  'metadata.key': ['key'],
  'metadata.prompt_ids': ['item', PROMPT_IDS],
  'metadata.value': ['value'],
  'prompt.id': ['item', PROMPT_IDS],
  'prompt.version': ['item', PROMPT_IDS],
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
  'annotations.hasAnnotation': ['annotated'],
  'events.event_type': ['event'],
} as const satisfies Readonly<Record<ValueName, readonly [string, string?]>>;

type Kind = (typeof FACET_KINDS)[keyof typeof FACET_KINDS][0] | 'measured';
