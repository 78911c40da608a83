/** The connection to the server: whether it answers, and whether it still serves the bundle of this page. */

import { Code, ConnectError } from '@connectrpc/connect';
import { useSyncExternalStore } from 'react';

/** `stale`: the page has to be loaded again, and typed text keeps it from that. */
export type Connection = 'open' | 'lost' | 'stale';

const WAIT_FIRST_MS = 500;
const WAIT_MAX_MS = 8_000;
const PROBE_MAX_MS = 5_000;
const EDITING_POLL_MS = 1_000;
const LOADS_MAX = 2;
/** The server was there when it served the page. */
const SERVED_MS = 3_000;
/** When the tab was reloaded last, so that it never reloads in a circle. */
const RELOADED = 'spandrel.reloaded';
const RELOAD_PAUSE_MS = 60_000;

let state: Connection = 'open';
let recovery: Promise<void> | null = null;
const listeners = new Set<() => void>();

function change(next: Connection): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Calls back when the state changes. Returns what ends it. */
export function watchConnection(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

export function useConnection(): Connection {
  return useSyncExternalStore(watchConnection, () => state);
}

/** Whether no answer came at all, or one that a proxy gives for a server that is away. */
export function isLoss(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  return code === Code.Unavailable || (code === Code.Unknown && cause instanceof TypeError);
}

/** A call failed: asks whether the server is there at all. Resolves once it is. */
export function recoverConnection(): Promise<void> {
  recovery ??= awaitServer().finally(() => {
    recovery = null;
  });
  return recovery;
}

/** One probe without an answer may be a slow server; two are a lost one. */
async function awaitServer(): Promise<void> {
  let waitMs = WAIT_FIRST_MS;
  for (let failed = 1; !(await answers()); failed += 1) {
    if (state === 'open' && failed > 1) change('lost');
    await pause(waitMs);
    if (failed > 1) waitMs = Math.min(2 * waitMs, WAIT_MAX_MS);
  }
  if (state === 'lost') change('open');
}

async function answers(): Promise<boolean> {
  try {
    const { ok } = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MAX_MS) });
    return ok;
  } catch {
    return false;
  }
}

/** Ends early when the browser is online again. */
function pause(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  window.addEventListener('online', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}

/**
 * Loads a part of the bundle. A browser may remember for the life of a page that a part could not be loaded, so the server
 * is asked first whether it is there. What fails nevertheless, or is gone since an upgrade, is there after a reload of the
 * page: it happens once, and not over typed text.
 */
export function loadsPart<Part>(load: () => Promise<Part>): () => Promise<Part> {
  return async () => {
    if (performance.now() > SERVED_MS) await recoverConnection();
    for (let count = 1; ; count += 1) {
      try {
        return await load();
      } catch (cause) {
        await recoverConnection();
        const served = await servedBundle();
        if (count === LOADS_MAX || (served !== null && served !== ownBundle())) {
          await reload();
          throw new Error('This part of the console could not be loaded.', { cause });
        }
      }
    }
  };
}

function ownBundle(): string | null {
  return document.querySelector('script[type="module"]')?.getAttribute('src') ?? null;
}

/** The bundle that the server's page names; null if it could not be read. */
async function servedBundle(): Promise<string | null> {
  try {
    const answer = await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MAX_MS) });
    return /<script type="module"[^>]* src="([^"]+)"/.exec(await answer.text())?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Returns only where the tab was reloaded a moment ago. */
function reload(): Promise<void> {
  reloading ??= reloadOnce();
  return reloading;
}

let reloading: Promise<void> | null = null;

async function reloadOnce(): Promise<void> {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < RELOAD_PAUSE_MS) return;
  while (isEditing()) {
    change('stale');
    await pause(EDITING_POLL_MS);
  }
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  await new Promise(() => undefined);
}

/** Forms with typed text that was not sent. */
const typed = new WeakSet<Element>();

/** Whether somebody is typing what a reload would lose. */
function isEditing(): boolean {
  const forms = [...document.querySelectorAll('form')];
  return forms.some((form) => typed.has(form)) || document.querySelector('[role=dialog]') !== null;
}

/** Call once. */
export function watchTyping(): void {
  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest('form') : null;
    if (form) typed.add(form);
  });
  document.addEventListener('submit', ({ target }) => {
    if (target instanceof Element) typed.delete(target);
  });
}
