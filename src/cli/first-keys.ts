/** Formats the keys of a new organization, which are printed only once. */

import type { FirstKeys } from '../domain/organization/bootstrap.ts';

const NOTES: { readonly [name: string]: string } = {
  SPANDREL_PROJECT_KEY: 'Sends traces, reaches one project. Shown only this once:',
  SPANDREL_ADMIN_KEY: 'Reaches the organization. Shown only this once:',
};

/** Lines that can be pasted into a shell. `consoleUrl` is the URL of the console; null where there is none. */
export function exportLines(keys: FirstKeys, consoleUrl: string | null): string {
  const lines = keys.flatMap(([name, value]) => {
    if (value === null) return [`# ${name} is the one that was imposed.`];
    const note = NOTES[name];
    return [...(note === undefined ? [] : [`# ${note}`]), `export ${name}=${value}`];
  });
  const key = keys.find(([name]) => name === 'SPANDREL_ADMIN_KEY')?.[1] ?? null;
  // Browsers do not send the part of a URL behind # to a server.
  const link = consoleUrl === null || key === null ? [] : [`# The console, signed in: ${consoleUrl}/#key=${key}`];
  return ['# The new organization. These lines can be pasted into a shell:', ...lines, ...link, ''].join('\n');
}
