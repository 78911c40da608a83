/** The experiments of a project. */

import { hash } from 'node:crypto';
import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { newId } from '../ids.ts';
import { normalizeText } from '../normalize-text.ts';
import { refuseProblems, typeReason } from '../reasons.ts';
import { normalizeName, resourceRules } from '../resources.ts';
import { slugBase } from '../slug.ts';
import type { Experiment, ExperimentStore } from './experiment.ts';

type ExperimentDeps = { readonly store: ExperimentStore; readonly random: RandomBytes };

/** Null: not sent. */
type ExperimentDraft = { readonly name: string | null; readonly slug: string | null };

export const experimentRules = resourceRules({ noun: 'experiment', liveMax: 1000, atLimit: 'delete one first' });

/** Results removed per transaction: more would delay other writes. */
const REMOVED_AT_ONCE = 200;
const SLUG_LENGTH_MAX = 50;
const HASH_LENGTH = 8;
const FALLBACK = 'experiment';

export type Experiments = ReturnType<typeof createExperiments>;

export function createExperiments({ store, random }: ExperimentDeps) {
  return {
    /** Creates the experiment unless one with the slug exists. Throws validation_error, experiment_limit_reached. */
    async init(project: Project, draft: ExperimentDraft, nowMs: number): Promise<Experiment> {
      const text = draft.slug ?? draft.name;
      if (text === null) refuseProblems([typeReason('experiment_slug', 'string', 'undefined')]);
      const given = normalizeName(draft.name ?? draft.slug ?? '');
      const experiment: Experiment = {
        projectId: project.id,
        id: newId('experiment', random),
        name: given === '' ? FALLBACK : given,
        // Not random: the same name always means the same experiment.
        slug: slugOf(text ?? ''),
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const known = await store.find(project.id, experiment.slug);
      if (known !== null) return known;
      const outcome = await store.init(experiment, experimentRules.liveMax);
      if (outcome === 'limit_reached') throw experimentRules.limitReached();
      return outcome;
    },
    /** Throws experiment_not_found. */
    get: (project: Project, idOrSlug: string) => experimentRules.find(store, project, idOrSlug),
    /** The newest first. */
    list: (project: Project) => store.list(project.id, experimentRules.liveMax),
    /** Removes its runs, too. Throws experiment_not_found. */
    remove: (project: Project, idOrSlug: string, nowMs: number) =>
      experimentRules.remove(store, project, { idOrSlug, nowMs }),
  };
}

/** Removes a batch of the results of hidden runs; every process may do so. */
export async function removeHiddenRuns(store: Pick<ExperimentStore, 'removeHidden'>): Promise<'more' | 'done'> {
  return (await store.removeHidden(REMOVED_AT_ONCE)) ? 'more' : 'done';
}

/** Adds a hash where the ASCII letters and digits do not identify the text. The slug of a slug is itself. */
function slugOf(text: string): string {
  const whole = slugBase(text, Number.POSITIVE_INFINITY);
  if (whole !== '' && whole.length <= SLUG_LENGTH_MAX && !/\P{ASCII}/u.test(text)) return whole;
  const digits = hash('sha256', normalizeText(text, 'NFKC').trim().toLowerCase(), 'hex').slice(0, HASH_LENGTH);
  return `${slugBase(text, SLUG_LENGTH_MAX - HASH_LENGTH - 1) || FALLBACK}-${digits}`;
}
