/** What this build is: the version in package.json, and the commit of a checkout. */

import { readFileSync } from 'node:fs';

export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : null;
  return String(found);
}

const HASH = /^[0-9a-f]{40}$/;

/** Empty where this is not a checkout. */
export function readCommit(): string {
  try {
    const head = readGit('HEAD');
    const commit = head.startsWith('ref: ') ? readGit(head.slice('ref: '.length)) : head;
    return HASH.test(commit) ? commit : '';
  } catch {
    return '';
  }
}

function readGit(path: string): string {
  return readFileSync(new URL(`../../.git/${path}`, import.meta.url), 'utf8').trim();
}
