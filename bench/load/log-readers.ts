import type { Keys } from '../sides.ts';
import type { RequestSource } from './http.ts';
import { bearer, getRequest } from './requests.ts';

const firstPage = '/api/webhooks/v1/events?from=0&to=9007199254740991';
const cursorMember = '"next_cursor":"';
const traceMember = '"trace_id":"';

/** Readers that walk the log, open a trace of every page, and start again at the end. */
export function logReaders({ adminKey, projectKey }: Keys): () => RequestSource {
  const admin = bearer(adminKey);
  const project = `X-Auth-Token: ${projectKey}`;
  return () => {
    let cursor = '';
    let traceId = '';
    let opensTrace = false;
    return {
      next() {
        opensTrace = !opensTrace && traceId !== '';
        if (opensTrace) return getRequest(`/api/traces/${traceId}`, project);
        return getRequest(cursor === '' ? firstPage : `${firstPage}&cursor=${cursor}`, admin);
      },
      read(body) {
        if (opensTrace) return;
        cursor = memberAt(body, body.lastIndexOf(cursorMember), cursorMember);
        traceId = memberAt(body, body.indexOf(traceMember), traceMember);
      },
    };
  };
}

/** The text of a member without escapes, or empty: parsing whole pages would cost too much. */
function memberAt(body: Buffer, at: number, member: string): string {
  if (at < 0) return '';
  const start = at + member.length;
  return body.toString('latin1', start, body.indexOf('"', start));
}
