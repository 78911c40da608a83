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

/**
 * The key of a link, such as that of the first start, has its place behind the #, which browsers send to no server. Cleans
 * the address. Null when there is none, or the tab has a key of its own. Nothing is stored: a foreign link must not sign
 * anybody in unasked.
 */
export function takeKeyFromAddress(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return null;
  history.replaceState(null, '', location.href.split('#')[0]);
  return key === '' || readKey() !== null ? null : key;
}

/** Calls back when a link with a key is opened in a tab that already shows the console. Returns what ends it. */
export function watchAddressForKey(onKey: (key: string) => void): () => void {
  const take = () => {
    const key = takeKeyFromAddress();
    if (key !== null) onKey(key);
  };
  window.addEventListener('hashchange', take);
  return () => window.removeEventListener('hashchange', take);
}

/** API keys contain their id; project keys do not. */
export function apiKeyId(key: string): string | null {
  return /(?:^|-)([0-9A-Za-z]{16})_[0-9A-Za-z]{48}$/.exec(key)?.[1] ?? null;
}

/** Shows enough of a key to recognise it, too little to use it. */
export function hideKey(key: string): string {
  return `${key.slice(0, 6)}…${key.slice(-4)}`;
}
