/** Stores the key in the tab: never in an address, a cookie or a log. */

const STORAGE_KEY = 'spandrel.key';

export function readKey(): string | null {
  return sessionStorage.getItem(STORAGE_KEY);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(STORAGE_KEY, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(STORAGE_KEY);
}

/** The link of the first start has a key behind the #, which browsers send to no server. Stores it and cleans the address. */
export function moveKeyFromAddress(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return;
  history.replaceState(null, '', location.href.split('#')[0]);
  // A foreign link must not replace the user's own key.
  if (key !== '' && readKey() === null) keepKey(key);
}

/** Does the same for a link opened in a tab that already shows the console, and reloads. */
export function watchAddressForKey(): void {
  window.addEventListener('hashchange', () => {
    if (!location.hash.startsWith('#key=')) return;
    moveKeyFromAddress();
    location.reload();
  });
}

/** API keys contain their id; project keys do not. */
export function apiKeyId(key: string): string | null {
  return /(?:^|-)([0-9A-Za-z]{16})_[0-9A-Za-z]{48}$/.exec(key)?.[1] ?? null;
}

/** Shows enough of a key to recognise it, too little to use it. */
export function hideKey(key: string): string {
  return `${key.slice(0, 6)}…${key.slice(-4)}`;
}
