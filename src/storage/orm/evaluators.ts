/** Saved evaluators. */

import { type EntityManager, type InferEntity, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Evaluator, EvaluatorField } from '../../domain/evaluator.ts';
import type { EvaluatorPage } from '../../domain/store.ts';
import { EvaluatorRow } from '../tables/evaluators.ts';
import { Project } from '../tables/organization.ts';

/** What is deleted is kept, and found by nobody. */
const LIVE = { deletedAtMs: null };

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
      (await em.fork().count(EvaluatorRow, { projectId, slug, ...LIVE })) > 0 &&
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
    if ((await tx.count(EvaluatorRow, { projectId, ...LIVE })) >= liveMax) return 'limit_reached';
    if ((await tx.count(EvaluatorRow, { projectId, slug, ...LIVE })) > 0) return 'slug_taken';
    await tx.insert(EvaluatorRow, { ...toRow(evaluator), ...LIVE });
    return 'stored';
  });
}

/** See EvaluatorStore.find. */
export async function findEvaluator(em: EntityManager, projectId: string, idOrSlug: string): Promise<Evaluator | null> {
  const row =
    (await em.findOne(EvaluatorRow, { projectId, id: idOrSlug, ...LIVE })) ??
    (await em.findOne(EvaluatorRow, { projectId, slug: idOrSlug, ...LIVE }));
  return row === null ? null : fromRow(row);
}

/** See EvaluatorStore.list. */
export async function listEvaluators(
  em: EntityManager,
  projectId: string,
  { afterId, limit }: EvaluatorPage,
): Promise<readonly Evaluator[]> {
  const behind = afterId === null ? {} : { id: { $gt: afterId } };
  const rows = await em.find(EvaluatorRow, { projectId, ...behind, ...LIVE }, { orderBy: { id: 'ASC' }, limit });
  return rows.map(fromRow);
}

/** See EvaluatorStore.replace. */
export async function replaceEvaluator(
  em: EntityManager,
  evaluator: Evaluator,
  expectedUpdatedAtMs: number,
): Promise<'stored' | 'stale'> {
  const { projectId, id } = evaluator;
  const { name, configJson, fieldsJson, outputFieldsJson, updatedAtMs } = toRow(evaluator);
  const asRead = { projectId, id, updatedAtMs: expectedUpdatedAtMs, ...LIVE };
  const after = { name, configJson, fieldsJson, outputFieldsJson, updatedAtMs };
  const changed = await em.nativeUpdate(EvaluatorRow, asRead, after);
  return changed > 0 ? 'stored' : 'stale';
}

/** See EvaluatorStore.remove. */
export async function removeEvaluator(
  em: EntityManager,
  { projectId, id, nowMs }: { readonly projectId: string; readonly id: string; readonly nowMs: number },
): Promise<boolean> {
  return (await em.nativeUpdate(EvaluatorRow, { projectId, id, ...LIVE }, { deletedAtMs: nowMs })) > 0;
}

function toRow({ fields, outputFields, ...rest }: Evaluator) {
  return {
    ...rest,
    fieldsJson: JSON.stringify(fields),
    outputFieldsJson: JSON.stringify(outputFields),
  };
}

function fromRow({ fieldsJson, outputFieldsJson, ...row }: InferEntity<typeof EvaluatorRow>): Evaluator {
  const { deletedAtMs: _, ...rest } = row;
  return { ...rest, fields: readFields(fieldsJson), outputFields: readFields(outputFieldsJson) };
}

// Only toRow writes these columns.
function readFields(text: string): readonly EvaluatorField[] {
  return JSON.parse(text) as readonly EvaluatorField[];
}
