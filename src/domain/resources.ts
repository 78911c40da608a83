/**
 * What the resources of a project have in common: an id, mostly with a slug, a limit per project, and changes that never undo each
 * other. Each of them declares in its own file what is its own.
 */

import type { Project } from './caller.ts';
import type { RandomBytes } from './clock.ts';
import { Fault, type Reason, unavailableFault } from './fault.ts';
import { isPossibleId, newId } from './ids.ts';
import { countCodePoints, lengthReason, typeReason } from './reasons.ts';
import { drawSlug } from './slug.ts';

export type Resource = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** Unique among those of the project that are not deleted. */
  readonly slug: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** The verbs that the ports of all resources have. */
export type ResourceStore<R extends Resource> = {
  /** By id first, then by slug, case-sensitive; null for a resource of another project or a deleted one. */
  find(projectId: string, idOrSlug: string): Promise<R | null>;
  /**
   * MUST hide the resource from every later read, and free its slug and its share of the limit. False when it does not
   * exist.
   */
  remove(projectId: string, id: string, nowMs: number): Promise<boolean>;
};

type Finds<R> = { find(projectId: string, idOrSlug: string): Promise<R | null> };

type Declaration = {
  readonly noun: 'dashboard' | 'dataset' | 'evaluator' | 'experiment' | 'graph' | 'monitor' | 'trigger';
  /** How many a project may hold. */
  readonly liveMax: number;
  /** What to do at the limit. */
  readonly atLimit: string;
  /** Whether the flat error family shows the message of a missing one in place of its code. */
  readonly isFlat?: boolean;
  /** Throws for a text that the resource refuses as an id. Others that cannot be one are not found. */
  readonly checkId?: (idOrSlug: string) => void;
};

type Named = { readonly idOrSlug: string; readonly nowMs: number };

/** What the kit adds to the content of a new resource. */
type Added = Omit<Resource, 'name'>;

type Creation<Content> = { readonly project: Project; readonly content: Content; readonly nowMs: number };

// With 36^5 suffixes and at most a thousand slugs in use, about one create in 60,000 needs a second attempt.
const SLUGS_DRAWN_MAX = 16;

/** The rules of one kind of resource. They throw `<noun>_not_found` and `<noun>_limit_reached`. */
export function resourceRules({ noun, liveMax, atLimit, isFlat = false, checkId }: Declaration) {
  function notFound(): Fault {
    const message = `${noun.charAt(0).toUpperCase()}${noun.slice(1)} not found`;
    return new Fault(`${noun}_not_found`, message, isFlat ? { flatError: message } : {});
  }

  function limitReached(): Fault {
    return new Fault(`${noun}_limit_reached`, `The project already holds ${liveMax} ${noun}s; ${atLimit}.`);
  }

  /** Throws for a resource of another project, too. */
  async function find<R>(store: Finds<R>, project: Project, idOrSlug: string): Promise<R> {
    checkId?.(idOrSlug);
    const found = isPossibleId(idOrSlug) ? await store.find(project.id, idOrSlug) : null;
    if (found === null) throw notFound();
    return found;
  }

  return {
    liveMax,
    notFound,
    limitReached,
    find,
    /** Draws an id and a slug, another one while the slug is taken. */
    async create<Content extends { readonly name: string }>(
      { random }: { readonly random: RandomBytes },
      { project, content, nowMs }: Creation<Content>,
      insert: (resource: Content & Added) => Promise<'stored' | 'slug_taken' | 'limit_reached'>,
    ): Promise<Content & Added> {
      for (let drawn = 0; drawn < SLUGS_DRAWN_MAX; drawn += 1) {
        const [id, slug] = [newId(noun, random), drawSlug(content.name, noun, random)];
        const resource = { ...content, id, slug, projectId: project.id, createdAtMs: nowMs, updatedAtMs: nowMs };
        const outcome = await insert(resource);
        if (outcome === 'stored') return resource;
        if (outcome === 'limit_reached') throw limitReached();
      }
      throw new Error(`no free slug in ${SLUGS_DRAWN_MAX} draws`);
    },
    /** Stores what `merge` makes of the stored resource; nothing where that is the same. */
    change<R extends Updated>(
      store: Finds<R> & { replace(resource: R, expectedUpdatedAtMs: number, stored: R): Promise<'stored' | 'stale'> },
      { project, idOrSlug, nowMs }: Named & { readonly project: Project },
      merge: (stored: R) => R | Promise<R>,
    ): Promise<R> {
      return retryStale(`Others keep changing this ${noun}; try again.`, async () => {
        const stored = await find(store, project, idOrSlug);
        const merged = await merge(stored);
        if (merged === stored || JSON.stringify(merged) === JSON.stringify(stored)) return stored;
        const next = { ...merged, updatedAtMs: nextUpdateMs(stored, nowMs) };
        return (await store.replace(next, stored.updatedAtMs, stored)) === 'stored' ? next : 'stale';
      });
    },
    /** Returns its id. */
    async remove<R extends Resource>(
      store: ResourceStore<R>,
      project: Project,
      { idOrSlug, nowMs }: Named,
    ): Promise<string> {
      const { id } = await find(store, project, idOrSlug);
      if (!(await store.remove(project.id, id, nowMs))) throw notFound();
      return id;
    },
  };
}

const NAME_LENGTH_MAX = 255;

/** The stored form of a name. */
export function normalizeName(sent: string): string {
  return sent.trim().toWellFormed();
}

/** The problems of the name of a resource; null: not sent. */
export function nameProblems(name: string | null): readonly Reason[] {
  if (name === null) return [typeReason('name', 'string', 'undefined')];
  const length = countCodePoints(name.trim());
  if (length < 1 || length > NAME_LENGTH_MAX) return [lengthReason('name', `1 to ${NAME_LENGTH_MAX} characters`)];
  if (!name.includes('\0')) return [];
  return [{ field: 'name', type: 'invalid_format', message: 'name must not contain the character U+0000' }];
}

// Every failed attempt means that another request succeeded, so a long series means heavy contention.
const ATTEMPTS_MAX = 50;
const RETRY_AFTER_SECONDS = 1;

/** Repeats an attempt, which reads the record each time, while others change it. */
export async function retryStale<Changed>(
  refusal: string,
  attempt: () => Promise<Changed | 'stale'>,
  attemptsMax = ATTEMPTS_MAX,
): Promise<Changed> {
  for (let round = 0; round < attemptsMax; round += 1) {
    const changed = await attempt();
    if (changed !== 'stale') return changed;
  }
  throw unavailableFault(refusal, RETRY_AFTER_SECONDS);
}

type Updated = Pick<Resource, 'id' | 'updatedAtMs'>;

/** Strictly increasing, so that it identifies one state of the record. */
export function nextUpdateMs(stored: Updated, nowMs: number): number {
  return Math.max(nowMs, stored.updatedAtMs + 1);
}

/** The last updated first, then by id. */
export function byLastUpdate(one: Updated, other: Updated): number {
  return other.updatedAtMs - one.updatedAtMs || (one.id < other.id ? -1 : 1);
}
