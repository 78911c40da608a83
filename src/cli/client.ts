/** A REST client of a running server, with an API key from the environment. */

import { readSources } from '../config/config.ts';
import type { Environment } from './io.ts';
import { memberOf } from './text.ts';

/** The response body, as text and parsed. */
export type ServerResponse = { readonly text: string; readonly body: unknown };

export type ServerClient = {
  /** Rejects with one line for the operator unless the server agrees. */
  call(verb: string, path: string, body?: object): Promise<ServerResponse>;
};

const DEFAULT_URL = 'http://127.0.0.1:5560';
const TIMEOUT_MS = 30_000;

/** Throws an Error with a line for the operator when the URL or the key in the environment is invalid. */
export function createServerClient(environment: Environment): ServerClient {
  const { values, problems } = readSources(environment);
  const base = readUrl(values.get('SPANDREL_URL')?.text ?? DEFAULT_URL);
  const key = values.get('SPANDREL_ADMIN_KEY')?.text ?? '';
  const problem = problems.find((line) => line.includes('SPANDREL_ADMIN_KEY'));
  if (problem !== undefined) throw new Error(problem);
  // Checked here, because fetch repeats an invalid header value, the key, in its error.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error('SPANDREL_ADMIN_KEY must hold an API key of the organization');
  return {
    async call(verb, path, body) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, text } = await exchange(base, path, { method: verb, headers, ...sent });
      const read = readJson(text);
      if (status >= 200 && status < 300 && read !== undefined) return { text, body: read };
      throw new Error(
        refusalOf(read) ?? `${base.origin} answered ${status}, but not as Spandrel does; check SPANDREL_URL`,
      );
    },
  };
}

function readUrl(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Error('SPANDREL_URL must be an http or https URL');
  }
  return new URL(text);
}

async function exchange(base: URL, path: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    // Not followed: a redirect would send the key to another server.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${base.href.replace(/\/+$/, '')}${path}`, { ...init, redirect: 'manual', signal });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new Error(`no answer from ${base.origin} (${reason}); SPANDREL_URL says where the server is`, {
      cause: error,
    });
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message and the code of an error body, of either family. */
function refusalOf(answer: unknown): string | null {
  const error = memberOf(answer, 'error');
  const body = typeof error === 'object' && error !== null ? error : answer;
  if (typeof body !== 'object' || body === null || !('message' in body) || !('code' in body)) return null;
  const missing = 'missingPermissions' in body && Array.isArray(body.missingPermissions) ? body.missingPermissions : [];
  const lacking = missing.length === 0 ? '' : ` Missing: ${missing.join(', ')}.`;
  return `${String(body.message)}${lacking} (${String(body.code)})`;
}

/** Reads all pages of a list; `path` may already have a query. */
export async function readPages(client: ServerClient, path: string): Promise<readonly ServerResponse[]> {
  const pages: ServerResponse[] = [];
  let next = path;
  for (;;) {
    const page = await client.call('GET', next);
    pages.push(page);
    const cursor = memberOf(page.body, 'next_cursor');
    if (typeof cursor !== 'string' || cursor === '') return pages;
    next = `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
  }
}
