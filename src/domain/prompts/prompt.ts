/** Prompts and their port. A prompt has versions that never change; tags of the organization name some of them. */

import type { Organization, Project } from '../caller.ts';
import type { Actor } from '../management/audit.ts';
import type { AuditRecord } from '../management/management.ts';
import type { PromptConfig } from './prompt-config.ts';

export type PromptScope = 'PROJECT' | 'ORGANIZATION';

export type Prompt = {
  readonly organizationId: string;
  readonly id: string;
  /** The project that has the prompt, and alone changes it. */
  readonly projectId: string;
  readonly scope: PromptScope;
  /** Unique in its project or, for a prompt that the organization shares, among those of the organization. */
  readonly handle: string;
  /** The number of the newest version. */
  readonly version: number;
  /** The id of the newest version. */
  readonly versionId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type PromptVersion = {
  readonly id: string;
  readonly version: number;
  readonly authorId: string | null;
  readonly commitMessage: string | null;
  readonly config: PromptConfig;
  /** The text of a JSON object. */
  readonly parametersJson: string;
  readonly createdAtMs: number;
};

export type PromptTag = {
  readonly organizationId: string;
  readonly id: string;
  readonly name: string;
  readonly protected: boolean;
  readonly createdAtMs: number;
};

/** A tag that names a version. */
export type TagUse = { readonly name: string; readonly versionId: string };

/** A version with its prompt and the tags that name it, without `latest`. */
export type VersionedPrompt = {
  readonly prompt: Prompt;
  readonly version: PromptVersion;
  readonly tags: readonly TagUse[];
};

/** How a read names a version. */
export type VersionName =
  | { readonly kind: 'latest' }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'tag'; readonly name: string };

/** The project that a prompt is seen from. */
export type Viewer = { readonly organizationId: string; readonly projectId: string };

/** A call that changes prompts. */
export type PromptCall = {
  readonly project: Project;
  readonly organization: Organization;
  readonly actor: Actor;
  readonly nowMs: number;
  /** Throws unless the caller has the permission in the project. */
  readonly requirePermission: (permission: string) => void;
};

export type PromptPage = {
  readonly limit: number;
  /** The end of the page before. */
  readonly after: { readonly updatedAtMs: number; readonly id: string } | null;
};

/** A new version and the tags that name it from then on. */
export type NewVersion = {
  readonly version: PromptVersion;
  readonly tags: readonly string[];
  readonly audited: AuditRecord;
};

type Unstored = 'handle_taken' | 'tag_unknown';

/**
 * Verbs that change something MUST store all of it or nothing, its entry of the audit log included, and MUST increase the
 * `promptVersion` of the organization, which every request that begins after the answer sees.
 */
export type PromptStore = {
  /**
   * By id first, then by the handle in the project, then by the handle in the organization. MUST find what the project
   * has or its organization shares, and nothing else. Null for an unknown prompt; `version` is null where only that is
   * unknown.
   */
  find(
    viewer: Viewer,
    idOrHandle: string,
    version: VersionName,
  ): Promise<(Omit<VersionedPrompt, 'version'> & { readonly version: PromptVersion | null }) | null>;
  /** In their newest versions; the one that changed last first, then by id. */
  list(viewer: Viewer, page: PromptPage): Promise<readonly VersionedPrompt[]>;
  /** The newest first, at most `limit`, of those with a lower number than `before`; null: from the newest on. */
  versions(
    prompt: Prompt,
    page: { readonly before: number | null; readonly limit: number },
  ): Promise<readonly Omit<VersionedPrompt, 'prompt'>[]>;
  /** MUST return `limit_reached` where the project already has `promptsMax`. */
  insert(prompt: Prompt, first: NewVersion, promptsMax: number): Promise<'stored' | Unstored | 'limit_reached'>;
  /** MUST return `stale` where the prompt is deleted, or its newest version is not the one before. */
  append(prompt: Prompt, next: NewVersion): Promise<'stored' | Unstored | 'stale'>;
  /** MUST remove its versions, too. False where it is deleted already. */
  remove(prompt: Prompt, audited: AuditRecord): Promise<boolean>;
  /** MUST let the tag name no other version of the prompt. */
  assign(prompt: Prompt, use: TagUse & { readonly atMs: number }, audited: AuditRecord): Promise<'stored' | 'gone'>;
  /** The oldest first. MUST store `seeds` before where nothing of prompts was ever stored for the organization. */
  tags(organizationId: string, seeds: readonly PromptTag[]): Promise<readonly PromptTag[]>;
  insertTag(tag: PromptTag, tagsMax: number, audited: AuditRecord): Promise<'stored' | 'name_taken' | 'limit_reached'>;
  /** MUST return `gone` where there is no such tag. */
  replaceTag(tag: PromptTag, audited: AuditRecord): Promise<'stored' | 'name_taken' | 'gone'>;
  /** MUST end what it names, too. False where there is no such tag. */
  removeTag(tag: PromptTag, audited: AuditRecord): Promise<boolean>;
  /** Whether the tag names a version of a prompt of another project than this. */
  isTagUsedElsewhere(tag: PromptTag, projectId: string): Promise<boolean>;
};
