/**
 * Reads prompts from memory. What it keeps is valid for one `promptVersion` of the organization, which authentication reads
 * for each request and which every change of prompts increases, so a request never gets what was replaced before it began.
 */

import { createHash } from 'node:crypto';
import type { Organization, Project } from '../caller.ts';
import type { VersionedPrompt } from './prompt.ts';
import type { Reference } from './prompt-names.ts';
import type { Prompts } from './prompts.ts';

/** A version, and the tag by which clients know whether they have it. */
export type PromptRead = { readonly found: VersionedPrompt; readonly etag: string };

export type PromptReads = {
  /** Throws as `Prompts.get`. */
  get(from: PromptReader, reference: Reference): Promise<PromptRead>;
};

type PromptReader = { readonly project: Project; readonly organization: Pick<Organization, 'id' | 'promptVersion'> };

/** The characters of the texts kept for all organizations together; a full cache is emptied. */
const CHARACTERS_MAX = 16_777_216;
const ENTRIES_MAX = 10_000;
const CHARACTERS_BESIDE_TEXTS = 1000;

type Kept = { readonly version: number; readonly reads: Map<string, Promise<PromptRead>> };

export function createPromptReads({ prompts }: { readonly prompts: Pick<Prompts, 'get'> }): PromptReads {
  const kept = new Map<string, Kept>();
  let entries = 0;
  let characters = 0;

  function keptFor({ id, promptVersion: version }: PromptReader['organization']): Kept {
    const known = kept.get(id);
    // Any other version counts, not only a larger one: a restored database continues from a smaller one.
    if (known?.version === version) return known;
    const fresh: Kept = { version, reads: new Map() };
    kept.set(id, fresh);
    return fresh;
  }

  /** What was replaced is counted until the cache is emptied. */
  function count(read: number): void {
    entries += 1;
    characters += read + CHARACTERS_BESIDE_TEXTS;
    if (entries <= ENTRIES_MAX && characters <= CHARACTERS_MAX) return;
    kept.clear();
    entries = 0;
    characters = 0;
  }

  async function read(project: Project, reference: Reference): Promise<PromptRead> {
    const found = await prompts.get(project, reference);
    const text = JSON.stringify([found, project.slug]);
    count(text.length);
    return { found, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
  }

  return {
    get({ project, organization }, reference) {
      const { reads } = keptFor(organization);
      const name = JSON.stringify([project.id, reference]);
      const known = reads.get(name);
      if (known !== undefined) return known;
      const reading = read(project, reference);
      reads.set(name, reading);
      // Names of what does not exist would fill the memory.
      reading.catch(() => reads.delete(name));
      return reading;
    },
  };
}
