/**
 * Completes links of spans to prompts: a span may name its prompt by the handle alone, or by the id, and is to be found by
 * both.
 */

import type { Project } from '../caller.ts';
import { isPossibleId } from '../ids.ts';
import type { PromptLink } from '../traces/prompt-links.ts';
import type { PromptStore, VersionName } from './prompt.ts';

export type KnownPrompts = {
  /** The links of a request, in order; what names no prompt of the project stays as it is. */
  complete(links: readonly PromptLink[], at: Place): Promise<readonly PromptLink[]>;
};

type Place = { readonly project: Project; readonly nowMs: number };

type Deps = { readonly store: Pick<PromptStore, 'find'> };

/** For so long a tag may name the version before, and a new prompt be unknown. */
const KEPT_MS = 10_000;
/** A full cache is emptied. */
const KEPT_MAX = 10_000;
/** Prompts of one request that are looked up in the store. */
const LOOKUPS_MAX = 50;

type Kept = { readonly untilMs: number; readonly found: ReturnType<PromptStore['find']> };

export function createKnownPrompts({ store }: Deps): KnownPrompts {
  const kept = new Map<string, Kept>();

  /** Undefined: it would be one look-up too many. */
  function find({ project, nowMs }: Place, reference: Reference, lookups: { left: number }): Kept['found'] | undefined {
    const key = JSON.stringify([project.id, reference]);
    const known = kept.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.found;
    if (lookups.left === 0) return undefined;
    lookups.left -= 1;
    const { organizationId, id: projectId } = project;
    const found = store.find({ organizationId, projectId }, reference.name, reference.version);
    // Whoever waits for it gets the failure.
    found.catch(() => kept.delete(key));
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(key, { untilMs: nowMs + KEPT_MS, found });
    return found;
  }

  return {
    async complete(links, at) {
      const lookups = { left: LOOKUPS_MAX };
      const completed: PromptLink[] = [];
      for (const link of links) {
        const reference = referenceOf(link);
        const found = reference === null ? null : await find(at, reference, lookups);
        completed.push(found ? { ...link, ...namesOf(link, found) } : link);
      }
      return completed;
    },
  };
}

type Reference = { readonly name: string; readonly version: VersionName };

/** Null: the link says all, or too little. */
function referenceOf({ id, handle, versionId, versionNumber, tag }: PromptLink): Reference | null {
  const name = handle ?? id;
  const isComplete = id !== null && handle !== null && versionId !== null && versionNumber !== null;
  if (name === null || isComplete || ![name, versionId ?? '-', tag ?? '-'].every(isPossibleId)) return null;
  return { name, version: versionNameOf({ versionId, versionNumber, tag }) };
}

function versionNameOf({ versionId, versionNumber, tag }: Omit<PromptLink, 'id' | 'handle'>): VersionName {
  if (versionNumber !== null) return { kind: 'number', number: Number(versionNumber) };
  if (versionId !== null) return { kind: 'id', id: versionId };
  return tag === null ? { kind: 'latest' } : { kind: 'tag', name: tag };
}

type Found = NonNullable<Awaited<ReturnType<PromptStore['find']>>>;

/** A link without a version gets none: nobody knows which one was the newest when the span was made. */
function namesOf({ versionId, versionNumber, tag }: PromptLink, { prompt, version }: Found): Partial<PromptLink> {
  const { id, handle } = prompt;
  const isVersioned = (versionId ?? versionNumber ?? tag) !== null;
  if (version === null || !isVersioned) return { id, handle };
  return { id, handle, versionId: version.id, versionNumber: String(version.version), tag: null };
}
