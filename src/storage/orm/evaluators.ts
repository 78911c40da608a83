/** Saved evaluators. */

import {
  defineEntity,
  type EntityManager,
  type InferEntity,
  LockMode,
  p,
  UniqueConstraintViolationException,
} from '@mikro-orm/core';
import type { Evaluator, EvaluatorField } from '../../domain/evaluator.ts';
import { Project } from './organization.ts';

export const EvaluatorRow = defineEntity({
  name: 'Evaluator',
  tableName: 'evaluators',
  properties: {
    projectId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    slug: p.text(),
    type: p.text().$type<Evaluator['type']>(),
    config: p.text(),
    workflowId: p.text().nullable(),
    workflowName: p.text().nullable(),
    workflowIcon: p.text().nullable(),
    copiedFromEvaluatorId: p.text().nullable(),
    fields: p.text(),
    outputFields: p.text(),
    createdAt: p.bigint('number'),
    updatedAt: p.bigint('number'),
  },
});

/** See EvaluatorStore.insert. */
export async function insertEvaluator(
  em: EntityManager,
  evaluator: Evaluator,
  liveMax: number,
): Promise<'stored' | 'slug_taken' | 'limit_reached'> {
  const { projectId, slug } = evaluator;
  try {
    return await insertAlone(em, evaluator, liveMax);
  } catch (error) {
    // Somebody else was first, unless it is the id that is there already.
    const isSlugTaken =
      error instanceof UniqueConstraintViolationException &&
      (await em.fork().count(EvaluatorRow, { projectId, slug })) > 0 &&
      (await em.fork().count(EvaluatorRow, { projectId, id: evaluator.id })) === 0;
    if (isSlugTaken) return 'slug_taken';
    throw error;
  }
}

async function insertAlone(
  em: EntityManager,
  evaluator: Evaluator,
  liveMax: number,
): Promise<'stored' | 'slug_taken' | 'limit_reached'> {
  const { projectId, slug } = evaluator;
  return await em.transactional(async (tx) => {
    // Where several processes write, nobody else may count the evaluators of the project meanwhile.
    await tx.findOne(Project, { id: projectId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if ((await tx.count(EvaluatorRow, { projectId })) >= liveMax) return 'limit_reached';
    if ((await tx.count(EvaluatorRow, { projectId, slug })) > 0) return 'slug_taken';
    await tx.insert(EvaluatorRow, toRow(evaluator));
    return 'stored';
  });
}

/** See EvaluatorStore.find. */
export async function findEvaluator(em: EntityManager, projectId: string, idOrSlug: string): Promise<Evaluator | null> {
  const row =
    (await em.findOne(EvaluatorRow, { projectId, id: idOrSlug })) ??
    (await em.findOne(EvaluatorRow, { projectId, slug: idOrSlug }));
  return row === null ? null : fromRow(row);
}

function toRow(evaluator: Evaluator) {
  const { configJson, fields, outputFields, createdAtMs, updatedAtMs, ...rest } = evaluator;
  return {
    ...rest,
    config: configJson,
    fields: JSON.stringify(fields),
    outputFields: JSON.stringify(outputFields),
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
  };
}

function fromRow(row: InferEntity<typeof EvaluatorRow>): Evaluator {
  return {
    id: row.id,
    projectId: row.projectId,
    name: row.name,
    slug: row.slug,
    type: row.type,
    configJson: row.config,
    workflowId: row.workflowId ?? null,
    workflowName: row.workflowName ?? null,
    workflowIcon: row.workflowIcon ?? null,
    copiedFromEvaluatorId: row.copiedFromEvaluatorId ?? null,
    fields: readFields(row.fields),
    outputFields: readFields(row.outputFields),
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  };
}

// Only insertEvaluator writes these columns.
function readFields(text: string): readonly EvaluatorField[] {
  return JSON.parse(text) as readonly EvaluatorField[];
}
