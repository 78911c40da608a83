/** The versions of prompts that the spans of a trace name, which the metadata of the trace keeps. */

import type { Project } from '../../caller.ts';
import type { KnownPrompts } from '../../prompts/known-prompts.ts';
import { addLink, metadataOfLinks, type PromptLink, type PromptLinks } from '../prompt-links.ts';
import { mergeMetadata } from '../trace-metadata.ts';
import { isUnreadable, type Sent, type SpanDraft, type TraceDraft } from './collector-draft.ts';
import type { Collected, ValidatedTrace } from './collector-report.ts';

/** Those of attributes. */
export function linksOf({ links = [] }: TraceDraft): PromptLinks {
  return new Map(links.map((link) => [JSON.stringify(link), link]));
}

/** Adds that of the parameters of a span that is not of OpenTelemetry. */
export function addLinkOf(span: Sent<SpanDraft>, links: PromptLinks): void {
  if (span === undefined || isUnreadable(span) || span.telemetry !== undefined) return;
  const { params } = span;
  if (params === undefined || isUnreadable(params)) return;
  addLink(links, (key) => (Object.hasOwn(params, key) ? params[key] : undefined));
}

type At = { readonly project: Project; readonly nowMs: number };

/** Adds all names of the prompts to the metadata of the trace. */
export async function withLinks(prompts: KnownPrompts, at: At, collected: Collected): Promise<Collected> {
  if (collected.links.length === 0) return collected;
  return addNames(collected, await prompts.complete(collected.links, at));
}

/** The same for several traces. */
export async function allWithLinks(
  prompts: KnownPrompts,
  at: At,
  validated: readonly ValidatedTrace[],
): Promise<readonly ValidatedTrace[]> {
  const links = validated.flatMap(({ collected }) => collected.links);
  if (links.length === 0) return validated;
  const completed = await prompts.complete(links, at);
  let start = 0;
  return validated.map(({ collected, isStorable }) => {
    const own = completed.slice(start, start + collected.links.length);
    start += own.length;
    return { collected: own.length === 0 ? collected : addNames(collected, own), isStorable };
  });
}

function addNames(collected: Collected, links: readonly PromptLink[]): Collected {
  const { append, notes } = collected;
  const { json, notes: more } = mergeMetadata(append.metadataJson, metadataOfLinks(links));
  return { ...collected, append: { ...append, metadataJson: json }, notes: [...notes, ...more] };
}
