/** The prompt that a request of this server tries, and how its record and its span name it. */

import type { LosslessObject } from '../../json/lossless-json.ts';

export type TriedPrompt = {
  readonly id: string;
  readonly handle: string;
  /** Null: the content is of no stored version. */
  readonly version: { readonly id: string; readonly number: number } | null;
};

/** Marks the traces of prompts that are tried. */
export const TRY_LABEL = 'prompt-try';

/** As they are read from spans of applications. */
export function promptIdsOf({ id, handle, version }: TriedPrompt): string[] {
  return version === null ? [id, handle] : [id, version.id, handle];
}

/** By the names that applications use for the attributes of their spans. */
export function promptAttributes({ id, handle, version }: TriedPrompt): LosslessObject {
  return {
    'langwatch.prompt.id': id,
    'langwatch.prompt.handle': handle,
    ...(version !== null && {
      'langwatch.prompt.version.id': version.id,
      'langwatch.prompt.version.number': version.number,
    }),
  };
}
