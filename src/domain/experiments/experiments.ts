/** The experiments of a project. */

import { hash } from 'node:crypto';
import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { slugBase } from '../evaluator-slug.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import { refuseProblems, typeReason } from '../reasons.ts';
import type { Experiment, ExperimentStore } from './experiment.ts';

export type ExperimentDeps = { readonly store: ExperimentStore; readonly random: RandomBytes };

/** Null: not sent. */
export type ExperimentDraft = { readonly name: string | null; readonly slug: string | null };

export type Experiments = {
  /** The experiment with the slug, which is made unless it is there. Throws validation_error, experiment_limit_reached. */
  init(project: Project, draft: ExperimentDraft, nowMs: number): Promise<Experiment>;
  /** Throws experiment_not_found. */
  get(project: Project, idOrSlug: string): Promise<Experiment>;
  /** The newest first. */
  list(project: Project): Promise<readonly Experiment[]>;
  /** With its runs. Throws experiment_not_found. */
  remove(project: Project, idOrSlug: string, nowMs: number): Promise<void>;
};

/** Experiments of a project at once. */
const LIVE_MAX = 1000;
/** Results that are removed at once: more would hold up who writes. */
const SWEPT_AT_ONCE = 200;
const SLUG_LENGTH_MAX = 50;
const HASH_LENGTH = 8;
const FALLBACK = 'experiment';

export function createExperiments({ store, random }: ExperimentDeps): Experiments {
  return {
    async init(project, draft, nowMs) {
      const text = draft.slug ?? draft.name;
      if (text === null) refuseProblems([typeReason('experiment_slug', 'string', 'undefined')]);
      const given = (draft.name ?? draft.slug ?? '').trim().toWellFormed();
      const experiment: Experiment = {
        projectId: project.id,
        id: newId('experiment', random),
        name: given === '' ? FALLBACK : given,
        // Whoever sends a name again means the same experiment, so nothing is drawn here.
        slug: slugOf(text ?? ''),
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const known = await store.find(project.id, experiment.slug);
      if (known !== null) return known;
      const outcome = await store.init(experiment, LIVE_MAX);
      if (outcome === 'limit_reached') throw limitFault();
      return outcome;
    },
    get: (project, idOrSlug) => findExperiment(store, project, idOrSlug),
    list: (project) => store.list(project.id, LIVE_MAX),
    async remove(project, idOrSlug, nowMs) {
      const { id } = await findExperiment(store, project, idOrSlug);
      if (!(await store.hide(project.id, id, nowMs))) throw notFound();
    },
  };
}

export async function findExperiment(
  store: Pick<ExperimentStore, 'find'>,
  project: Project,
  idOrSlug: string,
): Promise<Experiment> {
  const experiment = idOrSlug.includes('\0') ? null : await store.find(project.id, idOrSlug);
  if (experiment === null) throw notFound();
  return experiment;
}

/** Removes a little of what nobody reaches any more, whichever process hid it. */
export async function sweepRuns(store: Pick<ExperimentStore, 'sweep'>): Promise<'more' | 'done'> {
  return (await store.sweep(SWEPT_AT_ONCE)) ? 'more' : 'done';
}

/** Different texts with the same ASCII letters and digits mean different experiments. A slug is the slug of itself. */
function slugOf(text: string): string {
  const whole = slugBase(text, Number.POSITIVE_INFINITY);
  if (whole !== '' && whole.length <= SLUG_LENGTH_MAX && !/\P{ASCII}/u.test(text)) return whole;
  const digits = hash('sha256', text.normalize('NFKC').trim().toLowerCase(), 'hex').slice(0, HASH_LENGTH);
  return `${slugBase(text, SLUG_LENGTH_MAX - HASH_LENGTH - 1) || FALLBACK}-${digits}`;
}

export function notFound(): Fault {
  return new Fault('experiment_not_found', 'Experiment not found');
}

function limitFault(): Fault {
  return new Fault('experiment_limit_reached', `The project already holds ${LIVE_MAX} experiments; delete one first.`);
}
