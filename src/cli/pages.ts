/** Walks a listing of the server to its end. */

import type { ServerAnswer, ServerClient } from './client.ts';
import { memberOf } from './text.ts';

/** Every page; `path` begins a query or continues one. */
export async function readPages(client: ServerClient, path: string): Promise<readonly ServerAnswer[]> {
  const pages: ServerAnswer[] = [];
  let next = path;
  for (;;) {
    const page = await client.call('GET', next);
    pages.push(page);
    const cursor = memberOf(page.body, 'next_cursor');
    if (typeof cursor !== 'string' || cursor === '') return pages;
    next = `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
  }
}
