/** Which project a trace is in. The api asks for the project, so that the projects are asked one by one. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { Place } from '../session/account.ts';
import { createTransport } from '../session/transport.ts';

const ASKED_AT_ONCE = 8;
/** What a project answers that has no such trace, or that this key may not look at. */
const NOT_HERE: ReadonlySet<Code> = new Set([Code.NotFound, Code.PermissionDenied]);

export type FoundTrace = { readonly slug: string; readonly traceId: string };

/** By its id or the beginning of one, as the api takes it; null where no project has it. */
export async function findTrace(key: string, projects: readonly Place[], traceId: string): Promise<FoundTrace | null> {
  for (let at = 0; at < projects.length; at += ASKED_AT_ONCE) {
    const asked = projects.slice(at, at + ASKED_AT_ONCE).map((project) => findIn(project, key, traceId));
    const found = (await Promise.all(asked)).find((each) => each !== null);
    if (found) return found;
  }
  return null;
}

async function findIn({ id, slug }: Place, key: string, traceId: string): Promise<FoundTrace | null> {
  try {
    const { view } = await createClient(TraceService, createTransport(key, id)).getTrace({ traceId, pageSize: 1 });
    return view.case === 'trace' ? { slug, traceId: view.value.traceId } : null;
  } catch (error) {
    if (NOT_HERE.has(ConnectError.from(error).code)) return null;
    throw error;
  }
}
