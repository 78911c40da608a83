/**
 * Links of traces to versions of prompts. The metadata of a trace has them in prompt_ids, a list of all names under which its
 * prompts are known: ids, handles, ids of versions, and each version as "<name>:<version>" beside the name of its prompt.
 */

import { isArray, scalarText } from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';

/** The names of all prompts of a trace, in its metadata. */
export const PROMPT_IDS = 'prompt_ids';
/** In one request about a trace. */
const LINKS_MAX = 200;

/** Attributes of a span; the parameters of a span of the collector may have them, too. */
export const PROMPT_KEYS = {
  id: 'langwatch.prompt.id',
  versionId: 'langwatch.prompt.version.id',
  handle: 'langwatch.prompt.handle',
  versionNumber: 'langwatch.prompt.version.number',
} as const;

/** The version of a prompt that a span names; null: it does not say. */
export type PromptLink = {
  readonly id: string | null;
  readonly handle: string | null;
  readonly versionId: string | null;
  readonly versionNumber: string | null;
  /** Named the version when the span was made. */
  readonly tag: string | null;
};

/** Each link of a trace once. */
export type PromptLinks = Map<string, PromptLink>;

const VERSION_NUMBER = /^[1-9][0-9]{0,8}$/;
const LATEST = 'latest';

/** Adds the link of a span, where it has one. */
export function addLink(links: PromptLinks, read: (key: string) => LosslessJson | undefined): void {
  if (links.size >= LINKS_MAX) return;
  const link = linkOf(read);
  if (link !== null) links.set(JSON.stringify(link), link);
}

function linkOf(read: (key: string) => LosslessJson | undefined): PromptLink | null {
  const text = (key: keyof typeof PROMPT_KEYS) => textOf(read(PROMPT_KEYS[key]));
  const [sentId, handle, versionId, sentNumber] = [
    text('id'),
    text('handle'),
    text('versionId'),
    text('versionNumber'),
  ];
  if ((sentId ?? handle ?? versionId) === null) return null;
  const [id, suffix] = sentId === null ? [null, null] : splitVersion(sentId);
  const versionNumber = [suffix, sentNumber].find((each) => each !== null && VERSION_NUMBER.test(each)) ?? null;
  return { id, handle, versionId, versionNumber, tag: suffix === versionNumber || suffix === LATEST ? null : suffix };
}

/** What no prompt can be called names none. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,512}$/u;

function textOf(value: LosslessJson | undefined): string | null {
  const text = typeof value === 'string' ? value : scalarText(value);
  return text !== null && NAME.test(text) ? text : null;
}

/** SDKs write "<handle>:<version>" where they know both. */
function splitVersion(id: string): readonly [name: string, version: string | null] {
  const colon = id.lastIndexOf(':');
  return colon <= 0 || colon === id.length - 1 ? [id, null] : [id.slice(0, colon), id.slice(colon + 1)];
}

/** As metadata of a trace; null without a name. */
export function metadataOfLinks(links: Iterable<PromptLink>): string | null {
  const names = new Set<string>();
  for (const { id, handle, versionId, versionNumber, tag } of links) {
    for (const each of [id, versionId, handle]) if (each !== null) names.add(each);
    const [name, version] = [handle ?? id, versionNumber ?? versionId ?? tag];
    if (name !== null && version !== null) names.add(`${name}:${version}`);
  }
  return names.size === 0 ? null : JSON.stringify({ [PROMPT_IDS]: [...names] });
}

/** Of one trace. */
export type LinkedPrompts = {
  /** All names. */
  readonly names: readonly string[];
  /** Each prompt by one of its names: its handle where that is known. */
  readonly prompts: readonly string[];
  /** "<name>:<version>" of each. */
  readonly versions: readonly string[];
};

const NOT_LINKED: LinkedPrompts = { names: [], prompts: [], versions: [] };

/** Reads the metadata of a trace. Where no name has a version, each is taken for a prompt. */
export function readLinkedPrompts(metadata: LosslessObject): LinkedPrompts {
  const value = Object.hasOwn(metadata, PROMPT_IDS) ? metadata[PROMPT_IDS] : undefined;
  if (value === undefined) return NOT_LINKED;
  const names = new Set((isArray(value) ? value : [value]).filter((each) => typeof each === 'string'));
  const prompts = new Set<string>();
  const versions: string[] = [];
  for (const each of names) {
    const [name, version] = splitVersion(each);
    if (version === null || !names.has(name)) continue;
    prompts.add(name);
    versions.push(each);
  }
  return { names: [...names], prompts: [...(versions.length === 0 ? names : prompts)], versions };
}
