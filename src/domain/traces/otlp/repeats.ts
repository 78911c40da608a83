/** Resources and scopes are sent once and stored with each span, so a small request could become a huge one. */

import { Fault } from '../../fault.ts';
import { isUnreadable, type Sent } from '../collector/collector-draft.ts';
import type { Attributes, OtlpScope, OtlpSpan } from './span.ts';

const REPEATED_BYTES_MAX = 64 * 1024 * 1024;

type Uses = { spans: number; readonly traces: Set<string> };

/** Throws payload_too_large when resources and scopes, repeated for their spans and traces, take too many bytes. */
export function checkRepeats(spans: readonly Sent<OtlpSpan>[]): void {
  const resources = new Map<Attributes, Uses>();
  const scopes = new Map<OtlpScope, number>();
  for (const span of spans) {
    if (span === undefined || isUnreadable(span)) continue;
    const { resource, scope, traceId } = span;
    const uses = resources.get(resource) ?? { spans: 0, traces: new Set() };
    resources.set(resource, uses);
    uses.spans += 1;
    // Metadata and the expected output of a resource are kept with each of its traces, too.
    if (typeof traceId === 'string') uses.traces.add(traceId);
    scopes.set(scope, (scopes.get(scope) ?? 0) + 1);
  }
  let bytes = 0;
  for (const [resource, uses] of resources) {
    bytes += bytesOf(Object.fromEntries(resource)) * (uses.spans + uses.traces.size);
  }
  for (const [scope, uses] of scopes) bytes += bytesOf(scope) * uses;
  if (bytes <= REPEATED_BYTES_MAX) return;
  throw new Fault(
    'payload_too_large',
    `Resource attributes repeated for every span exceed ${REPEATED_BYTES_MAX} bytes; send fewer spans per request`,
  );
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
