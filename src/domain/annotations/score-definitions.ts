/** The definitions of the scores that annotations of a project give. */

import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault, type Reason, validationFault } from '../fault.ts';
import { newId } from '../ids.ts';
import { auditRecord, changedFields } from '../management/audit.ts';
import { countCodePoints, customReason, lengthReason, refuseProblems, typeReason } from '../reasons.ts';
import { nextUpdateMs, normalizeName, retryStale } from '../resources.ts';
import type { ScoreDefinition, ScoreStore } from './annotation.ts';
import type { AnnotationCall } from './annotations.ts';

/** Undefined: not sent; null: no value. */
export type ScoreDraft = {
  readonly name?: string | null | undefined;
  readonly dataType?: ScoreDefinition['dataType'] | null | undefined;
  readonly options?: readonly string[] | undefined;
  readonly min?: number | null | undefined;
  readonly max?: number | null | undefined;
  readonly active?: boolean | null | undefined;
};

type ScoreDeps = { readonly store: ScoreStore; readonly random: RandomBytes };

const LIVE_MAX = 1_000;
const NAME_CHARACTERS_MAX = 128;
const OPTIONS_MAX = 100;
const REFUSAL = 'Others keep changing this score; try again.';

const FIELDS = {
  name: 'name',
  dataType: 'dataType',
  options: 'options',
  min: 'min',
  max: 'max',
  active: 'active',
} as const;

export type ScoreDefinitions = ReturnType<typeof createScoreDefinitions>;

export function createScoreDefinitions({ store, random }: ScoreDeps) {
  async function find(project: Project, id: string): Promise<ScoreDefinition> {
    const found = (await store.list(project.number)).find((definition) => definition.id === id);
    if (found === undefined) throw notFound();
    return found;
  }

  return {
    /** The oldest first. */
    list: (project: Project) => store.list(project.number),

    /** Throws validation_error, annotation_score_name_taken and annotation_score_limit_reached. */
    async create({ project, actor, nowMs }: AnnotationCall, draft: ScoreDraft): Promise<ScoreDefinition> {
      const { name, dataType } = draft;
      if (name == null || dataType == null) {
        throw validationFault('json', [typeReason(name == null ? 'name' : 'dataType', 'string', 'undefined')]);
      }
      const id = newId('score', random);
      const empty = { id, name, dataType, ...NO_VALUES, active: true, createdAtMs: nowMs, updatedAtMs: nowMs };
      const definition = merge(empty, draft);
      refuseProblems(definitionProblems(definition));
      const audited = auditRecord(actor, { action: 'annotationScore.create', targetId: id }, { nowMs, random });
      const outcome = await store.insert(project.number, definition, { liveMax: LIVE_MAX, audited });
      if (outcome === 'name_taken') throw nameTaken(definition);
      if (outcome === 'limit_reached') {
        throw new Fault('annotation_score_limit_reached', `A project holds at most ${LIVE_MAX} scores.`);
      }
      return definition;
    },

    /** Throws validation_error, annotation_score_not_found, annotation_score_name_taken and annotation_score_in_use. */
    async update(call: AnnotationCall, id: string, draft: ScoreDraft): Promise<ScoreDefinition> {
      const { project, actor, nowMs } = call;
      return await retryStale(REFUSAL, async () => {
        const known = await find(project, id);
        const merged = merge(known, draft);
        refuseProblems(definitionProblems(merged));
        const fields = changedFields(FIELDS, known, merged);
        if (fields.length === 0) return known;
        const definition = { ...merged, updatedAtMs: nextUpdateMs(known, nowMs) };
        const outcome = await store.replace(project.number, definition, {
          expectedUpdatedAtMs: known.updatedAtMs,
          audited: auditRecord(actor, { action: 'annotationScore.update', targetId: id, fields }, { nowMs, random }),
        });
        if (outcome === 'name_taken') throw nameTaken(definition);
        if (outcome === 'in_use') {
          throw new Fault('annotation_score_in_use', 'Annotations give this score: its type cannot change any more.');
        }
        return outcome === 'stored' ? definition : outcome;
      });
    },

    /** Throws annotation_score_not_found. */
    async remove({ project, actor, nowMs }: AnnotationCall, id: string): Promise<void> {
      await find(project, id);
      const audited = auditRecord(actor, { action: 'annotationScore.delete', targetId: id }, { nowMs, random });
      if (!(await store.remove(project.number, id, { nowMs, audited }))) throw notFound();
    },
  };
}

const NO_VALUES = { options: [], min: null, max: null };

/** Values that the new type does not have are gone, unless they are sent. */
function merge(known: ScoreDefinition, draft: ScoreDraft): ScoreDefinition {
  const dataType = draft.dataType ?? known.dataType;
  const kept = dataType === known.dataType ? known : NO_VALUES;
  return {
    ...known,
    dataType,
    name: normalizeName(draft.name ?? known.name),
    options: draft.options ?? kept.options,
    min: draft.min === undefined ? kept.min : draft.min,
    max: draft.max === undefined ? kept.max : draft.max,
    active: draft.active ?? known.active,
  };
}

function definitionProblems({ name, dataType, options, min, max }: ScoreDefinition): readonly Reason[] {
  const isNamed = isShortText(name);
  const isChoice = dataType === 'CATEGORICAL';
  const isBounded = min !== null || max !== null;
  return [
    ...(isNamed ? [] : [lengthReason('name', `1 to ${NAME_CHARACTERS_MAX} characters`)]),
    ...(isChoice === options.length > 0 ? [] : [customReason('options', `options are required for CATEGORICAL alone`)]),
    ...(options.length > OPTIONS_MAX ? [lengthReason('options', `at most ${OPTIONS_MAX} items`)] : []),
    ...(options.every(isShortText) && new Set(options).size === options.length
      ? []
      : [customReason('options', `options must be different texts of 1 to ${NAME_CHARACTERS_MAX} characters`)]),
    ...(isBounded && dataType !== 'NUMERIC' ? [customReason('min', 'min and max are only of NUMERIC')] : []),
    ...([min, max].every((bound) => bound === null || Number.isFinite(bound))
      ? []
      : [customReason('min', 'min and max must be finite numbers')]),
    ...(min !== null && max !== null && min > max ? [customReason('max', 'max must not be below min')] : []),
  ];
}

function isShortText(text: string): boolean {
  const length = countCodePoints(text.trim());
  return length > 0 && length <= NAME_CHARACTERS_MAX && !text.includes('\0');
}

function nameTaken({ name }: ScoreDefinition): Fault {
  return new Fault('annotation_score_name_taken', `The project already has a score of the name ${name}.`);
}

function notFound(): Fault {
  return new Fault('annotation_score_not_found', 'This score is not defined.');
}
