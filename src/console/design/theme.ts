/** Light or dark: the reader's choice, which this browser remembers, or else the system's. */

import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'spandrel.theme';
const listeners = new Set<() => void>();
let chosen: Theme = read();

function read(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // The browser keeps nothing: the choice holds for this page.
    return 'system';
  }
}

/** The style sheet follows the attribute. */
function apply(): void {
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  for (const listener of listeners) listener();
}

/** Call once, before the first page is drawn. Follows other tabs and the system. */
export function startTheme(): void {
  apply();
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  window.addEventListener('storage', ({ key }) => {
    if (key !== KEY && key !== null) return;
    chosen = read();
    apply();
  });
}

export function chooseTheme(theme: Theme): void {
  chosen = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // As above.
  }
  apply();
}

/** Calls back when colours change. Returns what ends it. */
export function watchTheme(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

export function useTheme(): Theme {
  return useSyncExternalStore(watchTheme, () => chosen);
}
