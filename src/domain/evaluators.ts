/** The evaluators of a project: saved ways to judge what an application did. */

import type { Project } from './caller.ts';
import type { RandomBytes } from './clock.ts';
import type { Evaluator } from './evaluator.ts';
import { type EvaluatorDraft, judgeDraft } from './evaluator-draft.ts';
import { drawSlug } from './evaluator-slug.ts';
import { Fault, validationFault } from './fault.ts';
import { newId } from './ids.ts';
import { countCodePoints } from './reasons.ts';
import type { EvaluatorStore } from './store.ts';

export { draftProblems, type EvaluatorDraft } from './evaluator-draft.ts';
export type { EvaluatorFieldDraft } from './evaluator-fields.ts';

export type EvaluatorDeps = { readonly store: EvaluatorStore; readonly random: RandomBytes };

export type Evaluators = {
  /** By id, or else by slug. Throws evaluator_not_found, also for another project's. */
  get(project: Project, idOrSlug: string): Promise<Evaluator>;
  /** Throws validation_error with every problem of the draft, or evaluator_limit_reached. */
  create(project: Project, draft: EvaluatorDraft, nowMs: number): Promise<Evaluator>;
};

export function createEvaluators(deps: EvaluatorDeps): Evaluators {
  return {
    get: async (project, idOrSlug) => {
      if (idOrSlug.includes('\0')) throw nulFault();
      const evaluator = isNameable(idOrSlug) ? await deps.store.find(project.id, idOrSlug) : null;
      if (!evaluator) throw notFoundFault();
      return evaluator;
    },
    create: async (project, draft, nowMs) => {
      const content = judgeDraft(draft);
      for (let attempt = 0; attempt < SLUG_ATTEMPTS_MAX; attempt += 1) {
        const evaluator: Evaluator = {
          id: newId('evaluator', deps.random),
          projectId: project.id,
          slug: drawSlug(content.name, 'evaluator', deps.random),
          ...content,
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
        };
        const outcome = await deps.store.insert(evaluator, LIVE_MAX);
        if (outcome === 'stored') return evaluator;
        if (outcome === 'limit_reached') throw limitFault();
      }
      throw new Error(`no free slug in ${SLUG_ATTEMPTS_MAX} draws`);
    },
  };
}

/** Evaluators a project may hold at once. */
const LIVE_MAX = 1000;
// With 36^5 suffixes and at most LIVE_MAX slugs in use, a sound source needs a second draw once in 60,000 creates.
const SLUG_ATTEMPTS_MAX = 16;
const ID_OR_SLUG_LENGTH_MAX = 200;

/** Longer than any id or slug can be: answered as unknown, without asking the store. */
function isNameable(idOrSlug: string): boolean {
  return countCodePoints(idOrSlug) <= ID_OR_SLUG_LENGTH_MAX;
}

function notFoundFault(): Fault {
  const message = 'Evaluator not found';
  return new Fault('evaluator_not_found', message, { flatError: message });
}

function limitFault(): Fault {
  const message = `The project already holds ${LIVE_MAX} evaluators; delete one before creating another.`;
  return new Fault('evaluator_limit_reached', message);
}

function nulFault(): Fault {
  const message = 'idOrSlug must not contain the character U+0000';
  return validationFault('param', [{ field: 'idOrSlug', type: 'invalid_format', message }]);
}
