/** Evaluator rules over an in-memory store, to test only the rules. */

import { randomBytes } from 'node:crypto';
import type { Project } from '../../src/domain/caller.ts';
import { createCursorCodec } from '../../src/domain/cursor.ts';
import type { Evaluator, EvaluatorSize, EvaluatorStore } from '../../src/domain/evaluators/evaluator.ts';
import { createEvaluators, type EvaluatorDraft } from '../../src/domain/evaluators/evaluators.ts';
import { Fault } from '../../src/domain/fault.ts';

export const NOW_MS = 1_700_000_000_000;

const emptyDraft: EvaluatorDraft = {
  name: 'Judge',
  type: null,
  configJson: null,
  workflowId: null,
  workflowName: null,
  workflowIcon: null,
  copiedFromEvaluatorId: null,
  fields: [],
  outputFields: [],
};

export const project: Project = {
  id: 'project_1',
  number: 1,
  slug: 'demo',
  organizationId: 'organization_1',
  organizationNumber: 1,
  priceVersion: 0,
  promptVersion: 0,
  teamId: 'team_1',
  emitRequestEvents: true,
  traceRetentionDays: null,
  archivedAtMs: null,
};

export function bleuConfig(settings = '{}'): Partial<EvaluatorDraft> {
  return { configJson: `{"evaluatorType":"ragas/bleu_score","settings":${settings}}` };
}

/** Keeps evaluators in memory; returns the queued outcomes first. */
class FakeStore implements EvaluatorStore {
  readonly outcomes: ('slug_taken' | 'limit_reached')[] = [];
  readonly tried: Evaluator[] = [];
  readonly stored: Evaluator[] = [];
  stepsRead = 0;
  pagesRead = 0;
  liveMax = 0;
  replaced = 0;
  /** The number of first replacements that return `stale`. */
  stale = 0;

  async insert(evaluator: Evaluator, liveMax: number): Promise<'stored' | 'slug_taken' | 'limit_reached'> {
    this.tried.push(evaluator);
    this.liveMax = liveMax;
    const outcome = this.outcomes.shift() ?? 'stored';
    if (outcome === 'stored') this.stored.push(evaluator);
    return outcome;
  }

  async measure(projectId: string): Promise<readonly EvaluatorSize[]> {
    const own = this.stored.filter((each) => each.projectId === projectId);
    return own.map(({ id, updatedAtMs, configJson }) => ({ id, updatedAtMs, bytes: configJson.length }));
  }

  async findAll(projectId: string, ids: readonly string[]): Promise<readonly Evaluator[]> {
    this.stepsRead += 1;
    return this.stored.filter((each) => each.projectId === projectId && ids.includes(each.id));
  }

  async replace(evaluator: Evaluator, expectedUpdatedAtMs: number): Promise<'stored' | 'stale'> {
    const index = this.stored.findIndex(({ id }) => id === evaluator.id);
    this.replaced += 1;
    if (this.replaced <= this.stale || this.stored[index]?.updatedAtMs !== expectedUpdatedAtMs) return 'stale';
    this.stored[index] = evaluator;
    return 'stored';
  }

  async remove(projectId: string, id: string): Promise<boolean> {
    const index = this.stored.findIndex((each) => each.projectId === projectId && each.id === id);
    if (index !== -1) this.stored.splice(index, 1);
    return index !== -1;
  }

  async find(projectId: string, idOrSlug: string): Promise<Evaluator | null> {
    this.pagesRead += 1;
    const own = this.stored.filter((each) => each.projectId === projectId);
    return own.find((each) => each.id === idOrSlug) ?? own.find((each) => each.slug === idOrSlug) ?? null;
  }
}

export function setUp() {
  const store = new FakeStore();
  const evaluators = createEvaluators({
    store,
    random: randomBytes,
    cursors: createCursorCodec(randomBytes(32)),
    checkPatterns: async (_, patterns) => patterns.map(() => null),
  });
  const create = (draft: Partial<EvaluatorDraft>) => evaluators.create(project, { ...emptyDraft, ...draft }, NOW_MS);
  return { store, evaluators, create };
}

export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Fault) return error;
  throw new Error(`expected a Fault, got ${String(error)}`);
}
