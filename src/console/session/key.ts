/** The key that somebody signed in with. It stays in this tab: never in an address, a cookie or a log. */

const STORED = 'spandrel.key';

export function readKey(): string | null {
  return sessionStorage.getItem(STORED);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(STORED, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(STORED);
}

/** The link of the first start has a key behind its #, which no server is sent. It is taken out of the address at once. */
export function takeKeyFromAddress(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return;
  history.replaceState(null, '', location.href.split('#')[0]);
  // A link of somebody else must not put their key into the place of one's own.
  if (key !== '' && readKey() === null) keepKey(key);
}

/** The same for a link that is opened where the console stands already: the page begins anew, with that key. */
export function watchAddressForKey(): void {
  window.addEventListener('hashchange', () => {
    if (!location.hash.startsWith('#key=')) return;
    takeKeyFromAddress();
    location.reload();
  });
}

/** API keys carry their id; keys of projects have no such part. */
export function apiKeyId(key: string): string | null {
  return /(?:^|-)([0-9A-Za-z]{16})_[0-9A-Za-z]{48}$/.exec(key)?.[1] ?? null;
}

/** Enough to tell keys apart, too little to use one. */
export function hideKey(key: string): string {
  return `${key.slice(0, 6)}…${key.slice(-4)}`;
}
