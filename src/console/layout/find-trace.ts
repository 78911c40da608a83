/** Finds the project of a trace. The api needs a project per call, so it queries the projects one by one. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { ProjectRef } from '../session/account.ts';
import { createTransport } from '../session/transport.ts';

const SEARCHED_AT_ONCE = 8;
/** The trace is not in the project, or the key may not read it. */
const NOT_FOUND_CODES: ReadonlySet<Code> = new Set([Code.NotFound, Code.PermissionDenied]);

type FoundTrace = { readonly slug: string; readonly traceId: string };

type Wanted = {
  /** An id or its prefix, as the api accepts it. */
  readonly traceId: string;
  readonly signal: AbortSignal;
};

/** Null if no project has the trace. */
export async function findTrace(
  key: string,
  projects: readonly ProjectRef[],
  wanted: Wanted,
): Promise<FoundTrace | null> {
  for (let at = 0; at < projects.length; at += SEARCHED_AT_ONCE) {
    const searches = projects.slice(at, at + SEARCHED_AT_ONCE).map((project) => findIn(project, key, wanted));
    const found = (await Promise.all(searches)).find((each) => each !== null);
    if (found) return found;
  }
  return null;
}

async function findIn({ id, slug }: ProjectRef, key: string, { traceId, signal }: Wanted): Promise<FoundTrace | null> {
  try {
    const client = createClient(TraceService, createTransport(key, id));
    const { view } = await client.getTrace({ traceId, pageSize: 1 }, { signal });
    return view.case === 'trace' ? { slug, traceId: view.value.traceId } : null;
  } catch (error) {
    if (NOT_FOUND_CODES.has(ConnectError.from(error).code)) return null;
    throw error;
  }
}
