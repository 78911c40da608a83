import { createJsonTrace } from './trace.ts';

const spansPerRequest = 1_000;

/** Stores one trace in requests of bounded size. `perParent`: the first span of each such group is its parent. */
export async function storeTrace(port: number, projectKey: string, spans: number, perParent = 0): Promise<string> {
  let traceId = '';
  for (let stored = 0; stored < spans; stored += spansPerRequest) {
    const count = Math.min(spansPerRequest, spans - stored);
    const body = Buffer.from(createJsonTrace(count).createSource(Buffer.alloc(0))());
    const trace = JSON.parse(body.toString());
    traceId ||= trace.trace_id;
    for (let at = 0; at < count && perParent > 0; at += 1) {
      // The console shows siblings that look alike as one row.
      trace.spans[at].name = `step ${at % perParent}`;
      if (at % perParent > 0) trace.spans[at].parent_id = trace.spans[at - (at % perParent)].span_id;
    }
    const { status } = await fetch(`http://127.0.0.1:${port}/api/collector`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-auth-token': projectKey },
      body: JSON.stringify({ ...trace, trace_id: traceId }),
    });
    if (status !== 200) throw new Error(`The trace was not stored: ${status}`);
  }
  return traceId;
}
