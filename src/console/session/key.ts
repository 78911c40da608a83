/** The key that begins a session. It is in memory until then, and in no storage, address, cookie or log afterwards. */

/**
 * The key of a link, such as that of the first start, has its place behind the #, which browsers send to no server. Cleans
 * the address. Null when there is none. It is not used unasked: a foreign link must not sign anybody in.
 */
export function takeKeyFromAddress(): string | null {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return null;
  history.replaceState(null, '', location.href.split('#')[0]);
  return key === '' ? null : key;
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

/** Shows enough of a key to recognise it, too little to use it. */
export function hideKey(key: string): string {
  return `${key.slice(0, 6)}…${key.slice(-4)}`;
}
