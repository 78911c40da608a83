/** The names of prompts: handles, references to one version, and tags. */

import { type Reason, validationFault } from '../fault.ts';
import { countCodePoints, customReason, lengthReason } from '../reasons.ts';
import type { VersionName } from './prompt.ts';

const HANDLE = /^[a-z0-9_-]+(?:\/[a-z0-9_-]+)?$/;
const HANDLE_CHARACTERS_MAX = 128;
/** Routes of tags, versions, sync and try have these names in the place of a part of a handle. */
const RESERVED = /^tags(\/|$)|\/(versions|sync|try)$/;
/** The tag of the newest version; nobody assigns it. */
export const LATEST = 'latest';
const VERSION_NUMBER = /^[1-9][0-9]{0,8}$/;

/** The problems of a handle. */
export function handleProblems(handle: string): readonly Reason[] {
  if (countCodePoints(handle) > HANDLE_CHARACTERS_MAX) {
    return [lengthReason('handle', `at most ${HANDLE_CHARACTERS_MAX} characters`)];
  }
  if (RESERVED.test(handle)) {
    return [customReason('handle', 'handle must not begin with the folder tags, nor end in /versions, /sync or /try')];
  }
  if (HANDLE.test(handle)) return [];
  const message = 'handle must be "name" or "folder/name" of small letters, digits, "-" and "_"';
  return [{ field: 'handle', type: 'invalid_format', message, expected: HANDLE.source }];
}

/** The problems of a new name of a tag, whose form its field has checked. */
export function tagProblems(name: string): readonly Reason[] {
  return name === LATEST ? [customReason('name', `name must not be ${LATEST}, which names the newest version`)] : [];
}

export type Reference = { readonly idOrHandle: string; readonly version: VersionName };

type Sent = { readonly id: string; readonly version: number | null; readonly tag: string | null };

/** What a read asks for. Throws validation_error where it names more than one version, or none after a colon. */
export function parseReference({ id, version, tag }: Sent): Reference {
  const colon = id.lastIndexOf(':');
  const suffix = colon < 0 ? null : id.slice(colon + 1);
  const idOrHandle = colon < 0 ? id : id.slice(0, colon);
  if (idOrHandle === '' || suffix === '') {
    throw validationFault('param', [
      customReason('id', 'id must have a handle before a colon, and a version after it'),
    ]);
  }
  if ([suffix, version, tag].filter((named) => named !== null).length > 1) {
    throw validationFault('query', [
      customReason('(root)', 'name one version: after the colon of the ID, by version, or by tag'),
    ]);
  }
  return {
    idOrHandle,
    version: version === null ? parseVersion(suffix ?? tag ?? LATEST) : { kind: 'number', number: version },
  };
}

/** A number, or a tag. */
function parseVersion(text: string): VersionName {
  if (text === LATEST) return { kind: 'latest' };
  return VERSION_NUMBER.test(text) ? { kind: 'number', number: Number(text) } : { kind: 'tag', name: text };
}
